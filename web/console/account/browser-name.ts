import { t } from '../../translations/translate.ts'

/** Browsers by the product in their user agent; those based on another browser come first. */
const BROWSERS = [
  ['Edge', /\bEdg(?:A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+).*\bSafari\//],
] as const

const SYSTEMS = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
] as const

/** Returns a short name of a user agent, such as “Chrome 153, Windows”, or the user agent itself if it is not a known browser. */
export function browserName(userAgent: string): string {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))
  if (!browser) return userAgent
  const [name, pattern] = browser
  const version = pattern.exec(userAgent)![1]!
  const system = SYSTEMS.find(([, systemPattern]) => systemPattern.test(userAgent))
  return system ? t('{browser}, {system}', { browser: `${name} ${version}`, system: system[0] }) : `${name} ${version}`
}
