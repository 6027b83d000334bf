import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/schema'
import { type BundledSoftware, findBundledSoftware } from './bundled-software.ts'
import type { LockedPackage } from './lock-file.ts'
import { runNpm } from './run-npm.ts'

interface Component {
  'bom-ref': string
  type: string
  name: string
  version?: string
  purl?: string
  cpe?: string
  hashes?: { alg: string; content: string }[]
  licenses?: ({ license: { id: string } } | { expression: string })[]
}

/** The parts of a CycloneDX document that we read or change. */
export interface Sbom {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** Generates a software bill of materials (SBOM) of package-lock.json, with the software inside packages of another name. */
export function generateSbom(root: string): Sbom {
  const { stdout, stderr } = runNpm(root, [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
  ])
  if (!stdout.trim()) throw new Error(`npm sbom failed:\n${stderr.trim()}`)
  const sbom = JSON.parse(stdout) as Sbom
  // npm names the packages of this repository after their folders.
  for (const component of [sbom.metadata.component, ...sbom.components]) component.name = nameOf(component)
  for (const component of [...sbom.components]) addBundledSoftware(sbom, component)
  return sbom
}

/**
 * Returns an SBOM without the packages that are installed only for development. (`npm sbom --omit=dev` of npm 11 also omits packages
 * that both the server and a development package use, such as pg.)
 */
export function omitDevPackages(sbom: Sbom, packages: LockedPackage[]): Sbom {
  const refOf = ({ name, version }: LockedPackage) => `${name}@${version}`
  const runtimeRefs = new Set(packages.filter(({ isDev }) => !isDev).map(refOf))
  const omittedRefs = new Set(packages.map(refOf).filter((ref) => !runtimeRefs.has(ref)))
  const isKept = (ref: string) => !omittedRefs.has(ref)
  return {
    ...sbom,
    components: sbom.components.filter((component) => isKept(component['bom-ref'])),
    dependencies: sbom.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  }
}

/** Returns the name of the package, which `bom-ref` contains together with the version. */
function nameOf({ 'bom-ref': ref, version }: Component): string {
  return version !== undefined && ref.endsWith(`@${version}`) ? ref.slice(0, -version.length - 1) : ref
}

function addBundledSoftware(sbom: Sbom, { 'bom-ref': packageRef, name, version }: Component) {
  for (const software of findBundledSoftware(name, version ?? '') ?? []) {
    const component = describeSoftware(software)
    const ref = component['bom-ref']
    if (!sbom.components.some((other) => other['bom-ref'] === ref)) {
      sbom.components.push(component)
      sbom.dependencies.push({ ref, dependsOn: [] })
    }
    sbom.dependencies.find((dependency) => dependency.ref === packageRef)?.dependsOn.push(ref)
  }
}

function describeSoftware({ name, version, licence, cpe }: BundledSoftware): Component {
  const isProgram = name === 'postgresql' || name === 'node'
  const knownVersion = version === 'unknown' ? undefined : version
  const purl = `pkg:generic/${name}${knownVersion ? `@${knownVersion}` : ''}`
  return {
    'bom-ref': purl,
    type: isProgram ? 'application' : 'library',
    name,
    ...(knownVersion ? { version: knownVersion } : {}),
    purl,
    ...(cpe ? { cpe: `cpe:2.3:a:${cpe}:${version}:*:*:*:*:*:*:*` } : {}),
    licenses: [licence.startsWith('LicenseRef-') ? { expression: licence } : { license: { id: licence } }],
  }
}

/** Returns the errors of an SBOM: violations of the CycloneDX schema, and packages that it lacks or describes differently. */
export function checkSbom(sbom: Sbom, packages: LockedPackage[]): string[] {
  const validator = Compile(
    { 'spdx.schema.json': readSchema('spdx'), 'jsf-0.82.schema.json': readSchema('jsf-0.82') },
    readSchema('bom-1.5'),
  )
  const [isValid, errors] = validator.Errors(sbom)
  const schemaErrors = isValid
    ? []
    : errors.slice(0, MAX_SCHEMA_ERRORS).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  const componentsByRef = new Map(sbom.components.map((component) => [component['bom-ref'], component]))
  const packageErrors = packages.flatMap(({ name, version, integrity }) => {
    const component = componentsByRef.get(`${name}@${version}`)
    if (!component) return [`${name} ${version} is in package-lock.json, but not in the SBOM`]
    const hash = Buffer.from(integrity?.replace(/^sha512-/, '') ?? '', 'base64').toString('hex')
    return component.hashes?.some(({ alg, content }) => alg === 'SHA-512' && content === hash)
      ? []
      : [`${name} ${version} has another hash in the SBOM than in package-lock.json`]
  })
  return [...schemaErrors, ...packageErrors]
}

const MAX_SCHEMA_ERRORS = 10

function readSchema(name: string): object {
  return JSON.parse(readFileSync(new URL(`schemas/${name}.schema.json`, import.meta.url), 'utf8'))
}
