// Validates edited values and signs as the server does: the twin of portal.facts.check_value. Pure.
//
// The server refuses a save as a whole, so that a wrong value must not get into one.

/** The ways a number shows its sign; a date has none. */
export const SIGNS = [
  ["", "none"],
  ["plain", "plain"],
  ["minus", "minus"],
  ["parentheses", "parentheses"],
  ["trailing_minus", "trailing minus"],
  ["trailing_cr", "trailing CR"],
];
const NUMBER_SIGNS = SIGNS.map(([key]) => key).filter(Boolean);

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+|\/[1-9]\d*)?$/;
const POINT = /^(?:(\d{4})(?:-(\d{2})(?:-(\d{2}))?|-Q[1-4]|-H[12])?|--(\d{2})-(\d{2}))$/;
const NUMERAL = String.raw`\d+(\.\d+)?`;
const DURATION = new RegExp(
  `^P(?=[0-9T])(${NUMERAL}Y)?(${NUMERAL}M)?(${NUMERAL}W)?(${NUMERAL}D)?` +
    `(T(?=[0-9])(${NUMERAL}H)?(${NUMERAL}M)?(${NUMERAL}S)?)?$`,
);

export const signName = (sign) => SIGNS.find(([key]) => key === sign)?.[1] ?? sign;

/** "number", "date", or undefined for a label whose facts have no value. */
export const labelKind = (label) => ({ number: "number", date: "date", temporal: "date" })[label.toLowerCase()];

/** The sign that fits a value: none without a value, plain for a number that is not negative and has no other. */
export function fittingSign(value, sign, label) {
  if (!value) return "";
  return !sign && labelKind(label) === "number" && !value.startsWith("-") ? "plain" : sign;
}

/** The problem with a value and sign, in the server's words, or null. */
export function valueFault(value, sign, label) {
  const kind = labelKind(label);
  if (kind === "number") return numberFault(value, sign);
  if (kind === "date") return dateFault(value, sign);
  return value || sign ? `the label ${label} has no value and no sign` : null;
}

function numberFault(value, sign) {
  if (!value && !sign) return null;
  if (!NUMBER_SIGNS.includes(sign)) return `the sign must be one of ${NUMBER_SIGNS.join(", ")}`;
  if (!NUMBER.test(value)) return "the value must be a decimal such as -1200 or 25.63, or a fraction such as 1/3";
  const isNegative = value.startsWith("-");
  const isZero = !/[1-9]/.test(value.split("/")[0]);
  if (isNegative && isZero) return "zero cannot have a minus sign";
  if (isNegative && sign === "plain") return "a negative value cannot have a plain sign: choose how the sign is shown";
  if (!isNegative && sign !== "plain" && !isZero) {
    return `a number with the sign ${sign} is negative: the value must begin with -`;
  }
  return null;
}

function dateFault(value, sign) {
  if (sign) return "a date has no sign";
  if (!value || DURATION.test(value)) return null;
  const points = value.split("/");
  if (points.length > 2 || !points.every((point) => POINT.test(point))) {
    return (
      "the value must be a date such as 2025-03-24, 2025-03, 2025, 2025-Q2 or --06-30, " +
      "a duration such as P1M, or an interval of two dates with / between them"
    );
  }
  const unreal = points.find((point) => !isReal(point));
  return unreal === undefined ? null : `there is no such date as ${unreal}`;
}

/** Without a year, every day that some year has is valid. */
function isReal(point) {
  const [, year = "2000", month, day, anyMonth, anyDay] = POINT.exec(point);
  const inMonth = Number(month ?? anyMonth ?? 1);
  const onDay = Number(day ?? anyDay ?? 1);
  return Number(year) > 0 && inMonth >= 1 && inMonth <= 12 && onDay >= 1 && onDay <= daysIn(Number(year), inMonth);
}

/** The calendar repeats every 400 years; Date takes years below 100 for others. */
function daysIn(year, month) {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}
