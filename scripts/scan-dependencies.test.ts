import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readLockedPackages } from './supply-chain/lock-file.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const ADVISORIES_PATH = '/-/npm/v1/security/advisories/bulk'

function advisory(id: string, severity: string) {
  return {
    id: 1,
    url: `https://github.com/advisories/${id}`,
    title: 'It can be broken',
    severity,
    vulnerable_versions: '*',
  }
}

/** Starts a registry with these advisories by package; without advisories, one that does not offer them. */
async function startRegistry(t: TestContext, advisories: Record<string, object[]> | undefined): Promise<string> {
  const packages = readLockedPackages(root)
  const server = createServer((request, response) => {
    request.resume()
    if (request.url === ADVISORIES_PATH && advisories === undefined) return void response.writeHead(405).end()
    if (request.url === ADVISORIES_PATH) return void response.end(JSON.stringify(advisories))
    const name = decodeURIComponent(request.url!.slice(1))
    const versions = packages.filter((entry) => entry.name === name).map(({ version }) => version)
    response.end(
      JSON.stringify({ name, versions: Object.fromEntries(versions.map((version) => [version, { name, version }])) }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function scan(t: TestContext, registry: string, accepted: object[] = [], args: string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-scan-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'accepted.json'), JSON.stringify(accepted))
  const script = join(root, 'scripts/scan-dependencies.ts')
  const child = spawn(process.execPath, [script, '--accepted', join(folder, 'accepted.json'), ...args], {
    env: { ...process.env, npm_config_registry: registry, npm_config_cache: folder },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const [code] = await once(child, 'close')
  return { code, output }
}

test('vulnerabilities fail the scan by severity, and lower ones in development packages do not', async (t) => {
  const registry = await startRegistry(t, {
    pg: [advisory('GHSA-aaaa-aaaa-aaaa', 'moderate')],
    pino: [advisory('GHSA-bbbb-bbbb-bbbb', 'low')],
    knip: [advisory('GHSA-cccc-cccc-cccc', 'moderate')],
    'axe-core': [advisory('GHSA-dddd-dddd-dddd', 'high')],
  })
  const { code, output } = await scan(t, registry)
  assert.equal(code, 1, output)
  assert.match(output, /^✗ pg \*: moderate, used by the server\. It can be broken \(https:.*GHSA-aaaa-aaaa-aaaa\)\.$/m)
  assert.match(output, /^- pino \*: low, used by the server/m)
  assert.match(output, /^- knip \*: moderate, used for development only/m)
  assert.match(output, /^✗ axe-core \*: high, used for development only/m)
  assert.match(output, /^Scanned \d+ packages: 4 known vulnerabilities, 2 of them must be fixed or accepted\.$/m)
})

test('an accepted advisory does not fail the scan until its date has passed', async (t) => {
  const registry = await startRegistry(t, { pg: [advisory('GHSA-aaaa-aaaa-aaaa', 'critical')] })
  const accepted = { id: 'GHSA-aaaa-aaaa-aaaa', reason: 'We do not call it.', until: '9999-12-31' }
  const acceptedScan = await scan(t, registry, [accepted])
  assert.equal(acceptedScan.code, 0, acceptedScan.output)
  assert.match(acceptedScan.output, /Accepted until 9999-12-31: We do not call it\.$/m)
  const expiredScan = await scan(t, registry, [{ ...accepted, until: '2026-01-01' }])
  assert.equal(expiredScan.code, 1, expiredScan.output)
})

test('a scan without vulnerabilities succeeds', async (t) => {
  const { code, output } = await scan(t, await startRegistry(t, {}), [], ['--required'])
  assert.equal(code, 0, output)
  assert.match(output, /: 0 known vulnerabilities, 0 of them/)
})

test('if the registry does not offer advisories, the scan is skipped, or fails if it is required', async (t) => {
  const registry = await startRegistry(t, undefined)
  const optionalScan = await scan(t, registry)
  assert.equal(optionalScan.code, 0)
  assert.match(optionalScan.output, /^Dependency scan skipped: .* \(it responded with status 405\)\.$/m)
  const requiredScan = await scan(t, registry, [], ['--required'])
  assert.equal(requiredScan.code, 1)
  assert.match(requiredScan.output, /^The scan is required here/m)
})
