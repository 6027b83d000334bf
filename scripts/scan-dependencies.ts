import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseOptions } from './parse-options.ts'
import { readLockedPackages } from './supply-chain/lock-file.ts'
import { runNpm } from './supply-chain/run-npm.ts'

// Reports known vulnerabilities of the packages in package-lock.json, as listed by the npm registry.
//   npm run scan-dependencies                 skips the scan if the registry does not offer it or cannot be reached
//   npm run scan-dependencies -- --required   fails in this case
// Fails if a package that the server runs has a vulnerability of moderate or higher severity, or a development package one of high or
// critical severity, unless scripts/supply-chain/accepted-advisories.json lists it.

const SEVERITIES = ['info', 'low', 'moderate', 'high', 'critical'] as const
type Severity = (typeof SEVERITIES)[number]
const MIN_RUNTIME_SEVERITY: Severity = 'moderate'
const MIN_DEV_SEVERITY: Severity = 'high'

/** The parts of the output of `npm audit --json` that we read. */
interface AuditReport {
  vulnerabilities?: Record<string, { nodes: string[]; via: (Advisory | string)[] }>
  message?: string
  statusCode?: number
}

interface Advisory {
  name: string
  title: string
  /** Ends with the identifier, such as GHSA-xxxx-xxxx-xxxx. */
  url: string
  severity: Severity
  range: string
}

interface AcceptedAdvisory {
  /** Identifier of the advisory, such as GHSA-xxxx-xxxx-xxxx. */
  id: string
  /** Why it does not affect Attestry. */
  reason: string
  /** Date in YYYY-MM-DD format after which the advisory counts again. */
  until: string
}

const { values: options } = parseOptions({
  required: { type: 'boolean', default: false },
  root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
  accepted: {
    type: 'string',
    default: fileURLToPath(new URL('supply-chain/accepted-advisories.json', import.meta.url)),
  },
})

const report = readReport()
if (report.vulnerabilities === undefined) {
  const reason = report.statusCode ? `it responded with status ${report.statusCode}` : report.message
  console.log(`Dependency scan skipped: the registry returned no list of advisories (${reason}).`)
  if (options.required) {
    console.error('The scan is required here: use a registry that offers advisories.')
    process.exitCode = 1
  }
} else reportAdvisories(report.vulnerabilities)

function readReport(): AuditReport {
  const { stdout, stderr } = runNpm(options.root, [
    'audit',
    '--json',
    '--package-lock-only',
    '--fetch-retries=1',
    '--fetch-timeout=30000',
  ])
  try {
    return JSON.parse(stdout) as AuditReport
  } catch {
    return { message: stderr.trim().split('\n')[0] || 'npm audit printed no report' }
  }
}

function reportAdvisories(vulnerabilities: NonNullable<AuditReport['vulnerabilities']>) {
  const packages = readLockedPackages(options.root)
  const runtimePaths = new Set(packages.filter(({ isDev }) => !isDev).map(({ path }) => path))
  const acceptedAdvisories = JSON.parse(readFileSync(options.accepted, 'utf8')) as AcceptedAdvisory[]
  const today = new Date().toISOString().slice(0, 10)
  const findings = Object.values(vulnerabilities).flatMap(({ nodes, via }) => {
    const isRuntime = nodes.some((path) => runtimePaths.has(path))
    // A text in `via` names another vulnerable package, which is reported on its own.
    const advisories = via.filter((cause) => typeof cause !== 'string')
    return advisories.map((advisory) => {
      const id = advisory.url.slice(advisory.url.lastIndexOf('/') + 1)
      const accepted = acceptedAdvisories.find((entry) => entry.id === id && today <= entry.until)
      const minSeverity = isRuntime ? MIN_RUNTIME_SEVERITY : MIN_DEV_SEVERITY
      const isSevere = SEVERITIES.indexOf(advisory.severity) >= SEVERITIES.indexOf(minSeverity)
      return { ...advisory, id, isRuntime, accepted, fails: isSevere && !accepted }
    })
  })
  for (const { name, range, severity, title, url, isRuntime, accepted, fails } of findings) {
    const use = isRuntime ? 'used by the server' : 'used for development only'
    const note = accepted ? ` Accepted until ${accepted.until}: ${accepted.reason}` : ''
    console.log(`${fails ? '✗' : '-'} ${name} ${range}: ${severity}, ${use}. ${title} (${url}).${note}`)
  }
  const failureCount = findings.filter(({ fails }) => fails).length
  console.log(
    `Scanned ${packages.length} packages: ${findings.length} known vulnerabilities, ${failureCount} of them must be fixed or accepted.`,
  )
  if (failureCount > 0) process.exitCode = 1
}
