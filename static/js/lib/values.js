// Whether a value written by hand can be one; the server has the last word (portal.facts.check_value).

const DECIMAL = /^-?\d+(\.\d+)?$/;
const DATE = /^\d{4}(-\d{2}(-\d{2})?)?$/;
const DURATION = /^P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?$/;

/** The ways a number shows its sign; a date has none. */
export const SIGNS = [
  ["", "none"],
  ["plain", "plain"],
  ["minus", "minus"],
  ["parentheses", "parentheses"],
  ["trailing_minus", "trailing minus"],
  ["trailing_cr", "trailing CR"],
];

export const signName = (sign) => SIGNS.find(([key]) => key === sign)?.[1] ?? sign;

function isDate(text) {
  if (DURATION.test(text)) return true;
  if (!DATE.test(text)) return false;
  const [year, month = "01", day = "01"] = text.split("-");
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
}

/** What is wrong with the text as a value, in words; null when nothing is. */
export function valueFault(text) {
  if (text === "" || DECIMAL.test(text) || text.split("/").every(isDate)) return null;
  return "Write a decimal such as -1200.5, a date such as 2025-03-31, or a duration such as P3M.";
}
