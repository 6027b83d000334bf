import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseOptions } from './parse-options.ts'
import { findBundledSoftware } from './supply-chain/bundled-software.ts'
import { checkLicences } from './supply-chain/licences.ts'
import { checkSources, readLockedPackages } from './supply-chain/lock-file.ts'
import { checkSbom, generateSbom, omitDevPackages } from './supply-chain/sbom.ts'

// Checks the packages of package-lock.json and writes software bills of materials (SBOM) in the format CycloneDX 1.5.
//   npm run sbom                       writes sbom/runtime.cdx.json and, with development packages, sbom/all.cdx.json
//   npm run sbom -- --output FOLDER    writes them to another folder
//   npm run sbom -- --check            writes nothing
// Fails if a package has no hash, comes from outside the registry or has a licence that is not accepted, or if an SBOM is not valid.
const { values: options } = parseOptions({
  check: { type: 'boolean', default: false },
  output: { type: 'string', default: 'sbom' },
  root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
})
const packages = readLockedPackages(options.root)
const bundledSoftware = packages.flatMap(({ name, version }) => findBundledSoftware(name, version) ?? [])
reportErrors([
  ...checkSources(packages),
  ...checkLicences(packages, bundledSoftware),
  ...packages
    .filter(({ name, version }) => findBundledSoftware(name, version) === undefined)
    .map(
      ({ name, version }) =>
        `${name} ${version} contains software that is not listed: update scripts/supply-chain/bundled-software.ts`,
    ),
])
const completeSbom = generateSbom(options.root)
const sboms = [
  { file: 'all.cdx.json', sbom: completeSbom, expectedPackages: packages },
  {
    file: 'runtime.cdx.json',
    sbom: omitDevPackages(completeSbom, packages),
    expectedPackages: packages.filter(({ isDev }) => !isDev),
  },
]
reportErrors(
  sboms.flatMap(({ file, sbom, expectedPackages }) =>
    checkSbom(sbom, expectedPackages).map((error) => `${file}: ${error}`),
  ),
)
if (!options.check) {
  mkdirSync(options.output, { recursive: true })
  for (const { file, sbom } of sboms) {
    const path = join(options.output, file)
    writeFileSync(path, `${JSON.stringify(sbom, null, 2)}\n`)
    console.log(`Wrote ${path}: ${sbom.components.length} components.`)
  }
}

/** Prints the errors and exits, if there are any. */
function reportErrors(errors: string[]) {
  if (errors.length === 0) return
  for (const error of errors) console.error(error)
  process.exit(1)
}
