/**
 * Measures signatures and checks of credentials, and lets another verifier (`@digitalcredentials/verifier-core`) verify credentials over
 * did:web on a local HTTPS server: unchanged ones, ones with a single changed character, and a revoked one. The run fails if it decides
 * wrongly. With OPEN_BADGES_SCHEMAS, the folder with 1EdTech's JSON Schemas, the verifier uses them instead of the rules in
 * `test/support/open-badge-schema.ts`.
 */
import { checkCredential } from '../server/credentials/check/check.ts'
import { signAsJwt, signOpenBadge } from '../server/credentials/proof/sign.ts'
import { setStatus } from '../server/credentials/proof/status-list.ts'
import type { JsonObject } from '../server/platform/json.ts'
import {
  changeOneByte,
  createIssuer,
  ISSUED_AT,
  type SampleIssuer,
  sampleCredential,
} from '../test/support/credentials.ts'
import { httpsSkipReason } from '../test/support/https-server.ts'
import { startIndependentVerifier } from '../test/support/independent-verifier.ts'
import { startIssuerServer } from '../test/support/issuer-server.ts'
import { openBadgesSchemaFile } from '../test/support/official-schemas.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  runFromCommandLine,
  skippedRow,
} from './support/benchmark.ts'

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const count = short ? 20 : 1000
  return [...(await measureSpeed(count)), ...(await verifyIndependently(count))]
}

async function measureSpeed(count: number): Promise<BenchmarkRow[]> {
  const issuer = await createIssuer('https://issuer.example')
  // The first signature loads the libraries and processes the contexts.
  const firstMs = await cpuMs(1, (number) => sign(issuer, number))
  const statusList = await issuer.signStatusList()
  const options = {
    now: new Date(),
    local: {
      modeOf: () => 'live' as const,
      findDidDocument: async () => issuer.didDocument,
      findStatusList: async () => statusList,
    },
    fetchDocument: () => Promise.reject(new Error('the benchmark uses no network')),
  }
  const credentials: JsonObject[] = []
  const signMs = await cpuMs(count, async (number) => credentials.push(await sign(issuer, number)))
  const jwtMs = await cpuMs(count, (number) => signAsJwt(sampleCredential(issuer, number), issuer.key))
  const checkMs = await cpuMs(count, async (number) => {
    const { verdict } = await checkCredential(credentials[number]!, options)
    if (verdict !== 'valid') throw new Error(`a credential of the benchmark is ${verdict}`)
  })
  return [
    { name: 'first signature', value: firstMs, unit: 'ms CPU', note: 'loads the libraries' },
    { name: 'signatures per second and core, eddsa-rdfc-2022', value: 1000 / signMs, unit: '/s' },
    { name: 'signatures per second and core, VC-JWT', value: 1000 / jwtMs, unit: '/s' },
    { name: 'checks per second and core, own credentials', value: 1000 / checkMs, unit: '/s' },
  ]
}

function sign(issuer: SampleIssuer, number: number) {
  return signOpenBadge(sampleCredential(issuer, number), issuer.key, ISSUED_AT)
}

/** Returns the CPU time per run. It includes all threads, and excludes other processes. */
async function cpuMs(count: number, run: (number: number) => Promise<unknown>): Promise<number> {
  const usedBefore = process.cpuUsage()
  for (let number = 0; number < count; number++) await run(number)
  const { user, system } = process.cpuUsage(usedBefore)
  return (user + system) / 1000 / count
}

async function verifyIndependently(count: number): Promise<BenchmarkRow[]> {
  if (httpsSkipReason) return [skippedRow('another verifier', httpsSkipReason)]
  const { issuer, server } = await startIssuerServer()
  const schemaFile = openBadgesSchemaFile('openBadge')
  const verifier = startIndependentVerifier(server.certificateFile, schemaFile)
  try {
    let accepted = 0
    let rejected = 0
    for (let number = 1; number <= count; number++) {
      const credential = await sign(issuer, number)
      const result = await verifier.verify(credential)
      if (result.accepted) accepted++
      else console.error(`not accepted: ${JSON.stringify(result)}`)
      const changed = changeOneByte(credential, number)
      if (!(await verifier.verify(changed)).hasValidSignature) rejected++
      else console.error(`accepted, although it was changed: ${JSON.stringify(changed)}`)
    }
    const revocationMs = await measureRevocations(issuer, verifier.verify, Math.min(count, 20))
    if (accepted < count || rejected < count) throw new Error('the other verifier decided wrongly')
    return [
      {
        name: 'accepted by another verifier',
        value: accepted,
        unit: `of ${count}`,
        note: schemaFile ? "with 1EdTech's JSON Schema" : 'with our own JSON Schema of Open Badges 3.0',
      },
      { name: 'single-character changes rejected by it', value: rejected, unit: `of ${count}` },
      { name: 'revocation seen by it, median', value: median(revocationMs), unit: 'ms' },
      { name: 'revocation seen by it, slowest', value: Math.max(...revocationMs), unit: 'ms' },
    ]
  } finally {
    verifier.close()
    await server.close()
  }
}

/** Returns the time from each revocation to the result of the verifier that sees it. */
async function measureRevocations(
  issuer: SampleIssuer,
  verify: (credential: JsonObject) => Promise<{ isRevoked: boolean }>,
  count: number,
): Promise<number[]> {
  const times: number[] = []
  for (let number = 1; number <= count; number++) {
    const credential = await sign(issuer, number)
    const startedAt = performance.now()
    setStatus(issuer.bits, number)
    if (!(await verify(credential)).isRevoked) throw new Error('the other verifier does not see a revocation')
    times.push(performance.now() - startedAt)
  }
  return times
}

if (import.meta.main) await runFromCommandLine('credentials', runBenchmark)
