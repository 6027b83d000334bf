import type { BundledSoftware } from './bundled-software.ts'
import type { LockedPackage } from './lock-file.ts'

/** SPDX identifiers of licences without conditions on other code, as a user of Attestry expects of its dependencies. */
const PERMISSIVE_LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ICU',
  'ISC',
  'LicenseRef-MIT-Kerberos',
  'LicenseRef-public-domain',
  'MIT',
  'MIT-0',
  'OpenSSL',
  'PostgreSQL',
  'PSF-2.0',
  'Python-2.0',
  'Unicode-3.0',
  'Unlicense',
  'W3C-20150513',
  'Zlib',
])

interface LicenceException {
  licence: string
  /** Names of npm packages, or of software inside them. */
  names: RegExp
  reason: string
}

/** Packages that were accepted although their licence has conditions. An entry that no package needs is an error. */
const EXCEPTIONS: LicenceException[] = [
  {
    licence: 'MPL-2.0',
    names: /^lightningcss(-[a-z0-9-]+)?$/,
    reason: 'A part of Vite that builds the pages. Only changes to its own files must be published.',
  },
  {
    licence: 'MPL-2.0',
    names: /^axe-core$/,
    reason: 'Used by tests only. Only changes to its own files must be published.',
  },
  {
    licence: 'OFL-1.1',
    names: /^@expo-google-fonts\/noto-sans-devanagari$/,
    reason: 'A font, used by tests only. It must not be sold on its own.',
  },
  {
    licence: 'LGPL-2.1-or-later',
    names: /^(libiconv|gettext-runtime)$/,
    reason: 'Dynamic libraries of the embedded PostgreSQL on macOS, which npm installs unchanged.',
  },
]

/** Returns a message for each package, and for software inside packages, whose licence is missing or not accepted. */
export function checkLicences(
  packages: Pick<LockedPackage, 'name' | 'version' | 'licence'>[],
  bundledSoftware: BundledSoftware[] = [],
  exceptions: LicenceException[] = EXCEPTIONS,
): string[] {
  const usedExceptions = new Set<LicenceException>()
  const messages = [...packages, ...bundledSoftware].flatMap(({ name, version, licence }) => {
    if (licence === undefined) return [`${name} ${version} has no licence in package-lock.json: ${ADVICE}`]
    const isAccepted = evaluateLicence(licence, (id) => {
      if (PERMISSIVE_LICENCES.has(id)) return true
      const exception = exceptions.find((entry) => entry.licence === id && entry.names.test(name))
      if (exception) usedExceptions.add(exception)
      return exception !== undefined
    })
    return isAccepted ? [] : [`${name} ${version} has the licence ${licence}, which is not accepted: ${ADVICE}`]
  })
  const unusedExceptions = exceptions.filter((entry) => !usedExceptions.has(entry))
  return [
    ...new Set(messages),
    ...unusedExceptions.map(
      ({ licence, names }) => `no package needs the exception ${licence} for ${names.source}: remove it`,
    ),
  ]
}

const ADVICE = 'choose another package, or add the licence or an exception to scripts/supply-chain/licences.ts'

/**
 * Returns whether the terms of an SPDX expression are accepted: of licences joined by OR, one; of licences joined by AND, all. A text
 * that is not a valid expression is not accepted. `WITH` adds permissions to a licence, so it does not change the result.
 */
export function evaluateLicence(expression: string, isAccepted: (id: string) => boolean): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? []
  let index = 0
  const result = readAlternatives()
  return result && index === tokens.length

  function readAlternatives(): boolean {
    let accepted = readConjunction()
    while (tokens[index] === 'OR') {
      index++
      // Read the operand in any case, so that the index advances.
      accepted = readConjunction() || accepted
    }
    return accepted
  }

  function readConjunction(): boolean {
    let accepted = readTerm()
    while (tokens[index] === 'AND') {
      index++
      accepted = readTerm() && accepted
    }
    return accepted
  }

  function readTerm(): boolean {
    const token = tokens[index++]
    if (token === '(') {
      const accepted = readAlternatives()
      return tokens[index++] === ')' && accepted
    }
    if (token === undefined || !/^[A-Za-z0-9.-]+\+?$/.test(token)) return false
    if (tokens[index] === 'WITH') index += 2
    return isAccepted(token.replace(/\+$/, ''))
  }
}
