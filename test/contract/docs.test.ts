import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cooldownMs, MAX_COOLDOWN_LEVEL } from '../../server/access/limits/cooldown.ts'
import { REJECTIONS_BEFORE_COOLDOWN } from '../../server/access/limits/limiter.ts'
import { BUCKET_NAMES, limitsFor } from '../../server/access/limits/table.ts'
import { CLOCK_WINDOW_SECONDS } from '../../server/access/signature.ts'
import { catalogueCodes, partnerCodes, verificationCodes } from '../../server/api/problem.ts'
import { banner } from '../../server/banner.ts'
import { readConfig } from '../../server/config.ts'
import { MAX_BODY_BYTES } from '../../server/platform/http/body.ts'
import { startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { addSampleResource } from '../support/sample-resource.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = globSync('{*.md,sdk/*.md,docs/**/*.md}', { cwd: root })
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Returns the text under a heading, up to the next one of the same or a higher level. */
function section(text: string, heading: string): string {
  const start = text.indexOf(`\n${heading}\n`)
  assert.ok(start >= 0, `heading ${heading} exists`)
  const rest = text.slice(start + heading.length + 2)
  const level = heading.indexOf(' ')
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'))
  return end < 0 ? rest : rest.slice(0, end)
}

/** Returns the rows of the first table whose first column has this heading. */
function table(text: string, firstColumn: string): string[][] {
  const lines = text.split('\n').map(cells)
  const start = lines.findIndex(([first]) => first === firstColumn)
  assert.ok(start >= 0, `a table with the column ${firstColumn} exists`)
  const rows = lines.slice(start + 2)
  const end = rows.findIndex((row) => row.length === 0)
  return end < 0 ? rows : rows.slice(0, end)
}

function cells(line: string): string[] {
  if (!line.startsWith('|')) return []
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

function blocks(text: string): string[] {
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, block]) => block!)
}

const withoutBackticks = (cell: string) => cell.replaceAll('`', '')
const number = (cell: string) => (cell === 'none' ? Infinity : Number(cell.replaceAll(',', '')))
const formatted = (value: number) => value.toLocaleString('en-US')

for (const [heading, codes] of [
  ['## Partner API', partnerCodes],
  ['## Verification session API', verificationCodes],
  ['## Skill catalogue API', catalogueCodes],
] as const) {
  test(`errors.md lists exactly the error codes and statuses of the server: ${heading}`, () => {
    const rows = table(section(read('docs/reference/errors.md'), heading), 'Code')
    assert.deepEqual(
      rows.map(([code, status]) => [withoutBackticks(code!), Number(status)]),
      Object.entries(codes),
    )
    for (const [code, , cause, remedy] of rows) assert.ok(cause && remedy, `${code} has a cause and a remedy`)
  })
}

for (const mode of ['live', 'test'] as const) {
  test(`limits.md lists the rates of a ${mode} key`, () => {
    const rows = table(section(read('docs/reference/limits.md'), `### ${mode.toUpperCase()} keys`), 'Class')
    const { buckets } = limitsFor(mode)
    assert.deepEqual(
      rows.map(([name, , ...rates]) => [withoutBackticks(name!), ...rates.map(number)]),
      BUCKET_NAMES.map((name) => {
        const { rate, burst, minute, day } = buckets[name]
        return [name, rate, burst, minute, day]
      }),
    )
  })
}

test('limits.md lists the limits of skills, pages and people', () => {
  const rows = table(section(read('docs/reference/limits.md'), '## Skill taxonomy and people'), 'What')
  const [live, test] = [limitsFor('live'), limitsFor('test')]
  assert.deepEqual(
    rows.map(([, ...caps]) => caps.slice(0, 2).map(number)),
    (['skillsPerDay', 'browsePagesPerHour', 'peoplePerDay'] as const).map((cap) => [live[cap], test[cap]]),
  )
})

test('limits.md states the sizes and durations that the server enforces', () => {
  const text = read('docs/reference/limits.md')
  const limits = new Map(table(text, 'What').map(([what, limit]) => [what, limit!]))
  assert.ok(limits.get('Request body')!.startsWith(`${formatted(MAX_BODY_BYTES)} bytes`))
  assert.ok(limits.get('`x-timestamp`')!.includes(` ${CLOCK_WINDOW_SECONDS} seconds `))
  const cooldown = section(text, '### Cooldown').replaceAll('\n', ' ')
  assert.ok(cooldown.includes(`The ${REJECTIONS_BEFORE_COOLDOWN}th `))
  const lengths = Array.from({ length: MAX_COOLDOWN_LEVEL }, (_, level) => cooldownMs(level + 1) / 1000)
  assert.ok(cooldown.includes(`${lengths.slice(0, -1).join(', ')}, then ${lengths.at(-1)} seconds`))
})

const guide = read('docs/guides/sign-your-first-request.md')

interface Vector {
  secret: string
  timestamp: number
  target: string
  body: string
  lines: string
  signature: string
}

const { vectors } = JSON.parse(read('docs/guides/signature-vectors.json')) as { vectors: Vector[] }

test('the worked examples of the guide are published test vectors', () => {
  const shown = blocks(section(guide, '## The string to sign')).filter((block) => block.startsWith('VFN1\n'))
  assert.equal(shown.length, 2)
  for (const block of shown) {
    const vector = vectors.find(({ lines }) => block === `${lines}\n`)
    assert.ok(vector, block)
    for (const part of [vector.signature, vector.secret, vector.body]) assert.ok(guide.includes(part), part)
  }
})

test('the guide shows the banner of the server', () => {
  const config = { ...readConfig({}), publicUrl: 'http://127.0.0.1:8080' }
  const demo = { org_id: 'ORG_…', key_id: 'VFN_TEST_…', secret: 'VFN_SK_…', session_key: 'VSK_TEST_…' }
  const [shown] = blocks(section(guide, '## Get a TEST key'))
  assert.equal(shown!.trim(), banner({ config }, { keys: demo, created: true }, false).trim())
  const elsewhere = banner({ config: { ...config, dataDir: '/srv/our data' } }, { keys: demo, created: true }, false)
  assert.match(elsewhere, /DATA_DIR='\/srv\/our data' npx attestry request GET \/shifts/)
})

test('the guide shows the error that a TEST key gets', async (t) => {
  const { timestamp, target, signature } = vectors[0]!
  const { fetch, given } = await startApp(t, { clock: new TestClock((timestamp + 412) * 1000) })
  const { orgId } = await given.org()
  const { keyId } = await given.key(orgId, { mode: 'test' })
  const { body } = await fetch(target, {
    headers: { 'x-api-key': keyId, 'x-timestamp': String(timestamp), 'x-signature': signature },
  })
  const [shown] = blocks(section(guide, '## When a call returns 401'))
  assert.deepEqual(JSON.parse(shown!), body)
})

test('errors.md shows the envelopes of the three APIs', async (t) => {
  const { fetch, given, as } = await startApp(t, { extend: addSampleResource })
  const { key } = await given.org()
  const shown = (heading: string) => JSON.parse(blocks(section(read('docs/reference/errors.md'), heading))[0]!)
  assert.deepEqual((await as(key).post('/samples', { nome: 'Welding' })).body, shown('## Partner API'))
  assert.deepEqual((await fetch('/api/v1/nothing')).body, shown('## Verification session API'))
  assert.deepEqual((await fetch('/api/nothing')).body, shown('## Skill catalogue API'))
})

/** Returns the anchor that GitHub generates for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function prose(text: string): string {
  return text.replace(/^```.*?^```/gms, '')
}

function anchors(path: string): Set<string> {
  return new Set([...prose(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!)))
}

function links(path: string): { target: string; anchor: string | undefined }[] {
  const all = [...prose(read(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
  return all
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [file, anchor] = link.split('#') as [string, string | undefined]
      return { target: file ? normalize(join(dirname(path), file)) : path, anchor }
    })
}

for (const page of pages) {
  test(`the links of ${page} are valid`, () => {
    for (const { target, anchor } of links(page)) {
      assert.ok(existsSync(join(root, target)), `${page} links to ${target}`)
      if (anchor !== undefined) assert.ok(anchors(target).has(anchor), `${page} links to ${target}#${anchor}`)
    }
  })
}

test('documentation pages that the code refers to exist', () => {
  for (const file of globSync('{cli,server,web,scripts,sdk}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: ['web/dist*/**'],
  })) {
    for (const [page] of read(file).matchAll(/\bdocs\/[\w-]+\/[\w-]+\.(?:md|json)\b/g))
      assert.ok(existsSync(join(root, page)), `${file} refers to ${page}`)
  }
})

test('the index links to every guide and every page of the reference', () => {
  const listed = new Set(links('docs/README.md').map(({ target }) => target))
  for (const file of globSync('docs/{guides,reference}/*', { cwd: root }))
    assert.ok(listed.has(file), `docs/README.md links to ${file}`)
})
