"""Settings, read from environment variables.

Every setting has a default for running the whole site on one machine. Invalid values raise an error
that names the variable. `docs/operations.md` lists all variables.
"""

import re
import secrets
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
import structlog
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()


def _int(name: str, default: int, *, least: int = 1) -> int:
    """A whole number of at least `least` from the environment, or an error that names it."""
    try:
        value = int(env.str(name, default=str(default)))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number") from error
    if value < least:
        raise ImproperlyConfigured(f"{name} must be at least {least}, not {value}")
    return value


def _price(name: str) -> float:
    """An amount of money from the environment, 0 by default, or an error that names it."""
    try:
        value = float(env.str(name, default="0"))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a number") from error
    if not 0 <= value < float("inf"):
        raise ImproperlyConfigured(f"{name} must be 0 or more, not {value}")
    return value


def _bool(name: str, *, default: bool) -> bool:
    text = env.str(name, default="on" if default else "off").strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be on or off, not {text!r}")


def _folder(name: str) -> Path | None:
    """An existing folder, None by default, or an error that names it."""
    text: str = env.str(name, default="").strip()
    if not text:
        return None
    path = Path(text).absolute()
    if not path.is_dir():
        raise ImproperlyConfigured(f"{name} must be a folder, but {path} is not a folder")
    return path


def _networks(name: str) -> list[IPv4Network | IPv6Network]:
    """IP addresses and networks, none by default, or an error that names the setting."""
    try:
        return [ip_network(each.strip()) for each in env.list(name, default=[])]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be IP addresses or networks: {error}") from error


def _domains(name: str) -> list[str]:
    """Domain names in lower case, none by default, or an error that names the setting."""
    domains = [each.strip().lower().lstrip("@") for each in env.list(name, default=[])]
    for domain in domains:
        if not re.fullmatch(r"[^\s@,/*]+\.[^\s@,/*.]+", domain):
            raise ImproperlyConfigured(
                f"{name} must be domains such as example.org, not {domain!r}"
            )
    return domains


def _secret_key(var_dir: Path) -> str:
    """The key from the environment. The default is a random key stored in var/."""
    key: str = env.str("SECRET_KEY", default="")
    if key:
        if len(key) < 32:
            raise ImproperlyConfigured("SECRET_KEY must have at least 32 characters")
        return key
    path = var_dir / "secret_key"
    try:
        with path.open("x", encoding="ascii") as file:
            path.chmod(0o600)
            file.write(secrets.token_urlsafe(48))
    except FileExistsError:
        pass
    return path.read_text(encoding="ascii")


def _logging(*, level: str, json: bool) -> dict[str, Any]:
    """For loggers of the standard library and of structlog: one JSON object per line, or text."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer: Any = (
        structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer(colors=False)
    )
    processors = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        renderer,
    ]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": shared,
                "processors": processors,
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {
            "django.server": {"handlers": ["stderr"], "propagate": False},
            "celery": {"level": "WARNING"},
            # Silence one line per call to the judge.
            "httpx2": {"level": "WARNING"},
        },
    }


DEBUG = _bool("DEBUG", default=False)
VAR_DIR = Path(env.str("VAR_DIR", default=str(BASE_DIR / "var")))
VAR_DIR.mkdir(parents=True, exist_ok=True)
SECRET_KEY = _secret_key(VAR_DIR)
# Former keys, still valid for values that were signed or encrypted with them.
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", default=[])
if any(len(key) < 32 for key in SECRET_KEY_FALLBACKS):
    raise ImproperlyConfigured("SECRET_KEY_FALLBACKS must be keys of at least 32 characters each")
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SITE_NAME = "Factboard"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "rest_framework",
    "template_partials",
    "portal.audit",
    "portal.accounts",
    "portal.jobs",
    "portal.datasets",
    "annotation",
    "scoring",
    "sample",
]

MIDDLEWARE = [
    "portal.home.health.HealthMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "portal.web.requests.PlainPathMiddleware",
    "portal.web.api.PlainNewlinesMiddleware",
    "portal.web.requests.ApiConditionalMiddleware",
    "portal.web.requests.KnownParametersMiddleware",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {
                "markdown": "portal.web.markup",
                "tables": "portal.web.markup",
                "site": "portal.home.navigation",
            },
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    }
]

# --- database -------------------------------------------------------------------------------
# IMMEDIATE takes SQLite's write lock when a transaction begins, so that writers wait instead of
# failing with "database is locked". The cache per connection is small, because the system caches
# the file as well.
_SQLITE = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-4000;",
}
DATABASE_URL: str = env.str("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'factboard.sqlite3'}")
if urlsplit(DATABASE_URL).scheme not in {"sqlite", "postgres", "postgresql"}:
    raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:/// or postgres://")
DATABASES = {"default": env.db_url_config(DATABASE_URL)}
# Opening a connection costs as much as several queries. SQLite connections can be kept for ever,
# because there is no server that could drop them or run out of connections.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"] |= {"CONN_MAX_AGE": None, "OPTIONS": _SQLITE}
else:
    DATABASES["default"] |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    # Requests must not wait for a server that does not answer.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- cache ----------------------------------------------------------------------------------
REDIS_URL: str = env.str("REDIS_URL", default="")
CACHES = {
    "default": {
        "BACKEND": "portal.web.redis_cache.SteadyRedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 2},
    }
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "cache_entries",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    },
    # Rendered responses shared by many users, in the memory of each web process. Their keys depend
    # on all inputs, so that they are never outdated.
    "answers": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "answers",
        "TIMEOUT": 3600,
        "OPTIONS": {"MAX_ENTRIES": 30},
    },
    # Tables before they are rendered, for other pages and filters of them: 6 MB for 1,000 rows.
    "tables": {
        "BACKEND": "portal.web.requests.ObjectCache",
        "LOCATION": "tables",
        "OPTIONS": {"MAX_ENTRIES": 4},
    },
}

# --- wake-up messages (the queue itself is portal.jobs.Job) ------------------------------------
CELERY_BROKER_URL: str = env.str("CELERY_BROKER_URL", default="filesystem://")
# A lost worker must be noticed within a minute: one lease plus one run of the reaper.
JOB_LEASE = timedelta(seconds=_int("JOB_LEASE_SECONDS", 45, least=3))
JOB_REAP_EVERY = timedelta(seconds=_int("JOB_REAP_SECONDS", 5))
# Failed emails must be kept longer than their links are valid (fourteen days).
JOB_KEEP = timedelta(days=_int("JOB_KEEP_DAYS", 30, least=14))
# Memory limit of a worker process in MB; 0 for no limit.
JOB_MEMORY_MB = _int("JOB_MEMORY_MB", 0, least=0)
GRADING_CHUNK = _int("GRADING_CHUNK", 25)

# --- files ----------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(VAR_DIR / "media")))
# Source maps of libraries are only for debugging; compressing them would double the start time.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [
    *("jpg", "jpeg", "png", "gif", "webp", "woff", "woff2", "gz", "zip", "map")
]
S3_BUCKET: str = env.str("S3_BUCKET", default="")


def _store_limits() -> Any:
    """A store that hangs must not hold the threads that serve pages."""
    from botocore.config import Config

    return Config(connect_timeout=3, read_timeout=10, retries={"total_max_attempts": 2})


STORAGES = {
    "default": {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": S3_BUCKET,
            "endpoint_url": env.str("S3_ENDPOINT_URL", default="") or None,
            "region_name": env.str("S3_REGION", default="") or None,
            "default_acl": "private",
            "file_overwrite": False,
            "client_config": _store_limits(),
        },
    }
    if S3_BUCKET
    else {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# --- LLM judge ------------------------------------------------------------------------------
# Any OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1. Without one there is no judge.
JUDGE_BASE_URL: str = env.str("JUDGE_BASE_URL", default="")
JUDGE_MODEL: str = env.str("JUDGE_MODEL", default="")
JUDGE_API_KEY: str = env.str("JUDGE_API_KEY", default="")
# Money per million tokens, in whatever currency budgets are given in.
JUDGE_PRICE_INPUT = _price("JUDGE_PRICE_INPUT")
JUDGE_PRICE_OUTPUT = _price("JUDGE_PRICE_OUTPUT")
JUDGE_CONCURRENCY = _int("JUDGE_CONCURRENCY", 4)
JUDGE_CALLS_PER_MINUTE = _int("JUDGE_CALLS_PER_MINUTE", 0, least=0)
JUDGE_TIMEOUT = _int("JUDGE_TIMEOUT_SECONDS", 120)
JUDGE_ATTEMPTS = _int("JUDGE_ATTEMPTS", 5)
# Hosts, each with or without a port, that endpoints of boards may have. Empty: any.
ENDPOINT_HOSTS: list[str] = env.list("ENDPOINT_HOSTS", default=[])
# Stores verdicts, because calls to the judge cost money.
JUDGE_CACHE = Path(env.str("JUDGE_CACHE", default=str(VAR_DIR / "judge")))

# --- sentence embedding ---------------------------------------------------------------------
# The folder of a sentence-transformers model, for lists in receipts; loaded when first needed.
EMBEDDING_MODEL = _folder("EMBEDDING_MODEL")
# Prompts in the words of papers, which are not shipped; see docs/judge.md.
PROMPTS_FOLDER = _folder("PROMPTS_FOLDER")

# --- rendering ------------------------------------------------------------------------------
# The Chromium program that renders page images, by name or path.
CHROMIUM: str = env.str("CHROMIUM", default="chromium")

# --- uploads --------------------------------------------------------------------------------
MEGABYTE = 1024 * 1024
UPLOAD_LIMIT = _int("UPLOAD_LIMIT_MB", 200) * MEGABYTE
ARCHIVE_TOTAL_LIMIT = _int("ARCHIVE_TOTAL_LIMIT_MB", 2048) * MEGABYTE
ARCHIVE_MEMBER_LIMIT = _int("ARCHIVE_MEMBER_LIMIT_MB", 50) * MEGABYTE
ARCHIVE_RATIO_LIMIT = _int("ARCHIVE_RATIO_LIMIT", 200)
ARCHIVE_MEMBERS_LIMIT = _int("ARCHIVE_MEMBERS_LIMIT", 100_000)
# Limit of form and JSON bodies without files; the largest are the spans of one assignment.
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * MEGABYTE
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
FILE_UPLOAD_HANDLERS = [
    "portal.files.uploads.LimitedUploadHandler",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# --- accounts -------------------------------------------------------------------------------
SESSION_ENGINE = "portal.accounts.sessions"
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home:start"
ACCOUNT_LOGOUT_REDIRECT_URL = "home:home"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_FORMS = {
    "login": "portal.accounts.adapter.LoginForm",
    "signup": "portal.accounts.adapter.SignupForm",
    "change_password": "portal.accounts.adapter.ChangePasswordForm",
    "reset_password_from_key": "portal.accounts.adapter.ResetPasswordKeyForm",
}
ACCOUNT_ADAPTER = "portal.accounts.adapter.AccountAdapter"
# "invited": sign-up requires an invitation, and uses its email address.
SIGN_UP: str = env.str("SIGN_UP", default="open")
if SIGN_UP not in {"open", "invited"}:
    raise ImproperlyConfigured("SIGN_UP must be open or invited")
ACCOUNT_EMAIL_VERIFICATION = env.str("ACCOUNT_EMAIL_VERIFICATION", default="optional")
if ACCOUNT_EMAIL_VERIFICATION not in {"mandatory", "optional", "none"}:
    raise ImproperlyConfigured("ACCOUNT_EMAIL_VERIFICATION must be mandatory, optional or none")
ACCOUNT_EMAIL_SUBJECT_PREFIX = f"[{SITE_NAME}] "
ACCOUNT_USER_DISPLAY = "portal.accounts.models.display_name"
# Accounts within 24 hours from one network and with one email domain; 0: no limit. Invited users
# and SIGN_UP_DOMAINS are not limited. One network alone cannot use up the limit of a domain.
SIGN_UPS_PER_NETWORK = _int("SIGN_UPS_PER_NETWORK", 10, least=0)
SIGN_UPS_PER_DOMAIN = _int("SIGN_UPS_PER_DOMAIN", 20, least=0)
SIGN_UP_DOMAINS = _domains("SIGN_UP_DOMAINS")
# Only failed log-ins count: five of one account from one IP address, and five wrong codes of one
# account. Many people can share an IP address, so its own limits are higher.
ACCOUNT_RATE_LIMITS = {
    "login": None,
    "login_failed": "5/5m/key,100/5m/ip",
    "reset_password": "5/m/key,100/m/ip",
    "reset_password_from_key": "100/m/ip",
    "signup": "100/m/ip",
    "signup_network": f"{SIGN_UPS_PER_NETWORK}/d/key" if SIGN_UPS_PER_NETWORK else None,
    "signup_domain": f"{SIGN_UPS_PER_DOMAIN}/d/key" if SIGN_UPS_PER_DOMAIN else None,
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]

# --- operator -------------------------------------------------------------------------------
# Name and email address of the operator, for the terms, privacy and contact pages.
OPERATOR_NAME: str = env.str("OPERATOR_NAME", default="")
CONTACT_EMAIL: str = env.str("CONTACT_EMAIL", default="")
# A folder with the operator's own terms.md, privacy.md and contact.md, if they exist.
_legal_dir: str = env.str("LEGAL_DIR", default="")
LEGAL_DIR: Path | None = Path(_legal_dir) if _legal_dir else None
if LEGAL_DIR is not None and not LEGAL_DIR.is_dir():
    raise ImproperlyConfigured(f"LEGAL_DIR must be a folder, but {_legal_dir} is not a folder")

EMAIL_URL: str = env.str("EMAIL_URL", default="consolemail://")
try:
    vars().update(env.email_url_config(EMAIL_URL))
except ImproperlyConfigured as error:
    raise ImproperlyConfigured(f"EMAIL_URL must be a URL of a mail server: {error}") from error
# A mail server that does not respond must not block a worker or page for ever.
EMAIL_TIMEOUT = _int("EMAIL_TIMEOUT_SECONDS", 20)
# Allows webhooks to private networks, and without TLS.
OUTGOING_TO_PRIVATE: bool = env.bool("OUTGOING_TO_PRIVATE", default=False)
DEFAULT_FROM_EMAIL: str = env.str("DEFAULT_FROM_EMAIL", default="factboard@localhost")

# --- security -------------------------------------------------------------------------------
HTTPS = _bool("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Only these may say in X-Forwarded-For for whom they ask.
TRUSTED_PROXIES = _networks("TRUSTED_PROXIES")
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- API ------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "portal.accounts.access.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PARSER_CLASSES": [
        "portal.web.api.PlainJSONParser",
        "portal.web.api.PlainFormParser",
        "portal.web.api.PlainMultiPartParser",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["portal.web.api.NoUnreadBody"],
    "DEFAULT_PAGINATION_CLASS": "portal.web.api.Pages",
    "PAGE_SIZE": 100,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": f"{SITE_NAME} API",
    "DESCRIPTION": "Automate everything you can do in the browser. Authenticate with a token.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "portal.home.api.document_errors",
    ],
    # Enums of fields that share a name; without an override their names would be hashes.
    "ENUM_NAME_OVERRIDES": {
        "ApprovalStateEnum": "scoring.models.Approval.State",
        "AssignmentFlagEnum": "annotation.models.Assignment.Flag",
        "AssignmentStateEnum": "annotation.models.Assignment.State",
        "BatchAuditStateEnum": ["incomplete", "accepted", "rejected"],
        "BatchStateEnum": "portal.datasets.models.Batch.State",
        "BoardStateEnum": "scoring.models.Board.State",
        "CampaignStateEnum": "annotation.models.Campaign.State",
        "CaseKindEnum": "annotation.models.Case.Kind",
        "CaseStateEnum": "annotation.models.Case.State",
        "DatasetTaskKindEnum": "portal.datasets.models.DatasetTask.Kind",
        "DatasetVisibilityEnum": "portal.datasets.models.Dataset.Visibility",
        "DisputeStateEnum": "portal.datasets.models.Dispute.State",
        "DocumentKindEnum": "portal.datasets.models.Document.Kind",
        "DocumentStateEnum": "portal.datasets.models.Document.State",
        "FindingKindEnum": "portal.datasets.models.PiiFinding.Kind",
        "FindingDecisionEnum": "portal.datasets.models.PiiFinding.Decision",
        "FindingGivenDecisionEnum": ["kept", "masked"],
        "DuplicateDecisionEnum": "portal.datasets.models.NearDuplicate.Decision",
        "DocumentTypeEnum": "portal.datasets.models.DocumentType",
        "ImportFormEnum": "portal.datasets.models.ImportRun.Form",
        "LabelFileFormEnum": "annotation.models.CampaignImport.Form",
        "LabelFileStateEnum": "annotation.models.CampaignImport.State",
        "OwnGoldOutcomeEnum": "annotation.workbench.selectors.OUTCOMES",
        "RegradeStateEnum": "scoring.models.Regrade.State",
        "ReleaseVisibilityEnum": "portal.datasets.models.Release.Visibility",
        "ReviewGivenVerdictEnum": "annotation.review.api.GIVEN_VERDICTS",
        "ReviewRoundStateEnum": "annotation.models.ReviewRound.State",
        "ReviewVerdictEnum": "annotation.models.ReviewItem.Verdict",
        "ScreeningVerdictEnum": "annotation.models.Screening.Verdict",
        "SubmissionVerdictEnum": "portal.home.api.given_verdicts",
        "WorkStateEnum": "portal.datasets.models.ImportRun.State",
    },
}

# --- the rest -------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
LOGGING = _logging(level=env.str("LOG_LEVEL", default="INFO"), json=not DEBUG)
