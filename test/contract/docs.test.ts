import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cooldownMs, MAX_COOLDOWN_LEVEL } from '../../server/access/limits/cooldown.ts'
import { BUCKET_NAMES, limitsFor, REJECTIONS_BEFORE_COOLDOWN } from '../../server/access/limits/table.ts'
import { CLOCK_WINDOW_SECONDS } from '../../server/access/signature.ts'
import { catalogueErrorCodes, partnerErrorCodes, verificationErrorCodes } from '../../server/api/problem.ts'
import { startupBanner } from '../../server/banner.ts'
import { readConfig } from '../../server/config.ts'
import { MAX_BODY_BYTES } from '../../server/platform/http/body.ts'
import { startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { addSampleResource } from '../support/sample-resource.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = globSync('{*.md,sdk/*.md,sdks/*/*.md,docs/**/*.md,examples/**/*.md}', { cwd: root })
const readPage = (path: string) => readFileSync(join(root, path), 'utf8')

/** Returns the text under a heading, up to the next heading of the same or a higher level. */
function findSection(text: string, heading: string): string {
  const start = text.indexOf(`\n${heading}\n`)
  assert.ok(start >= 0, `heading ${heading} exists`)
  const followingText = text.slice(start + heading.length + 2)
  const level = heading.indexOf(' ')
  const end = followingText.search(new RegExp(`^#{1,${level}} `, 'm'))
  return end < 0 ? followingText : followingText.slice(0, end)
}

/** Returns the rows of the first table whose first column has this heading. */
function findTable(text: string, firstColumn: string): string[][] {
  const lines = text.split('\n').map(splitCells)
  const start = lines.findIndex(([first]) => first === firstColumn)
  assert.ok(start >= 0, `a table with the column ${firstColumn} exists`)
  const rows = lines.slice(start + 2)
  const end = rows.findIndex((row) => row.length === 0)
  return end < 0 ? rows : rows.slice(0, end)
}

function splitCells(line: string): string[] {
  if (!line.startsWith('|')) return []
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

function codeBlocks(text: string): string[] {
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, block]) => block!)
}

const withoutBackticks = (cell: string) => cell.replaceAll('`', '')
const parseNumber = (cell: string) => (cell === 'none' ? Infinity : Number(cell.replaceAll(',', '')))
const formatNumber = (value: number) => value.toLocaleString('en-US')

for (const [heading, codes] of [
  ['## Partner API', partnerErrorCodes],
  ['## Verification session API', verificationErrorCodes],
  ['## Skill catalogue API', catalogueErrorCodes],
] as const) {
  test(`errors.md lists exactly the error codes and statuses of the server: ${heading}`, () => {
    const rows = findTable(findSection(readPage('docs/reference/errors.md'), heading), 'Code')
    assert.deepEqual(
      rows.map(([code, status]) => [withoutBackticks(code!), Number(status)]),
      Object.entries(codes),
    )
    for (const [code, , cause, remedy] of rows) assert.ok(cause && remedy, `${code} has a cause and a remedy`)
  })
}

for (const mode of ['live', 'test'] as const) {
  test(`limits.md lists the rates of a ${mode} key`, () => {
    const rows = findTable(findSection(readPage('docs/reference/limits.md'), `### ${mode.toUpperCase()} keys`), 'Class')
    const { buckets } = limitsFor(mode)
    assert.deepEqual(
      rows.map(([name, , ...rates]) => [withoutBackticks(name!), ...rates.map(parseNumber)]),
      BUCKET_NAMES.map((name) => {
        const { rate, burst, minute, day } = buckets[name]
        return [name, rate, burst, minute, day]
      }),
    )
  })
}

test('limits.md lists the limits for skills, browsed pages and people', () => {
  const rows = findTable(findSection(readPage('docs/reference/limits.md'), '## Skill taxonomy and people'), 'What')
  const [live, test] = [limitsFor('live'), limitsFor('test')]
  assert.deepEqual(
    rows.map(([, ...caps]) => caps.slice(0, 2).map(parseNumber)),
    (['skillsPerDay', 'browsePagesPerHour', 'peoplePerDay'] as const).map((cap) => [live[cap], test[cap]]),
  )
})

test('limits.md states the sizes and durations that the server enforces', () => {
  const text = readPage('docs/reference/limits.md')
  const limits = new Map(findTable(text, 'What').map(([what, limit]) => [what, limit!]))
  assert.ok(limits.get('Request body')!.startsWith(`${formatNumber(MAX_BODY_BYTES)} bytes`))
  assert.ok(limits.get('`x-timestamp`')!.includes(` ${CLOCK_WINDOW_SECONDS} seconds `))
  const cooldown = findSection(text, '### Cooldown').replaceAll('\n', ' ')
  assert.ok(cooldown.includes(`The ${REJECTIONS_BEFORE_COOLDOWN}th `))
  const cooldownSeconds = Array.from({ length: MAX_COOLDOWN_LEVEL }, (_, level) => cooldownMs(level + 1) / 1000)
  assert.ok(cooldown.includes(`${cooldownSeconds.slice(0, -1).join(', ')}, then ${cooldownSeconds.at(-1)} seconds`))
})

const guide = readPage('docs/guides/sign-your-first-request.md')

interface SignatureVector {
  secret: string
  timestamp: number
  target: string
  body: string
  lines: string
  signature: string
}

const { requests: vectors } = JSON.parse(readPage('sdks/vectors.json')) as { requests: SignatureVector[] }

test('the worked examples in the guide to the first request are published test vectors', () => {
  const shownBlocks = codeBlocks(findSection(guide, '## The string to sign')).filter((block) =>
    block.startsWith('VFN1\n'),
  )
  assert.equal(shownBlocks.length, 2)
  for (const block of shownBlocks) {
    const vector = vectors.find(({ lines }) => block === `${lines}\n`)
    assert.ok(vector, block)
    for (const part of [vector.signature, vector.secret, vector.body]) assert.ok(guide.includes(part), part)
  }
})

test('the guide to the first request shows the banner of the server', () => {
  const config = { ...readConfig({}), publicUrl: 'http://127.0.0.1:8080' }
  const demoKeys = { org_id: 'ORG_…', key_id: 'VFN_TEST_…', secret: 'VFN_SK_…', session_key: 'VSK_TEST_…' }
  const demo = { keys: demoKeys, created: true }
  const [shownBanner] = codeBlocks(findSection(guide, '## Get a TEST key'))
  assert.equal(shownBanner!.trim(), startupBanner({ config }, demo, { isTerminal: true, hasPublicUrl: false }).trim())
  const bannerWithDataDir = startupBanner({ config: { ...config, dataDir: '/srv/our data' } }, demo, {
    isTerminal: false,
    hasPublicUrl: false,
  })
  assert.match(bannerWithDataDir, /DATA_DIR='\/srv\/our data' npx attestry request GET \/shifts/)
})

test('the guide to the first request shows the 401 response to a TEST key', async (t) => {
  const { timestamp, target, signature } = vectors[0]!
  const { fetch, fixtures } = await startApp(t, { clock: new TestClock((timestamp + 412) * 1000) })
  const { orgId } = await fixtures.createOrg()
  const { keyId } = await fixtures.createPartnerKey(orgId, { mode: 'test' })
  const { body } = await fetch(target, {
    headers: { 'x-api-key': keyId, 'x-timestamp': String(timestamp), 'x-signature': signature },
  })
  const [shownError] = codeBlocks(findSection(guide, '## When a call returns 401'))
  assert.deepEqual(JSON.parse(shownError!), withExampleOrigin(body))
})

/** Replaces the request ID and the address of the server with those of the examples. */
function withExampleOrigin(body: unknown): unknown {
  const json = JSON.stringify(body)
    .replace(/req_\w+/, 'req_JWHYGSZ0W3000000l')
    .replace(/http:\/\/127\.0\.0\.1:\d+\/docs/, 'https://verify.example.com/docs')
  return JSON.parse(json)
}

test('errors.md shows the error envelopes of the three APIs', async (t) => {
  const { fetch, fixtures, as } = await startApp(t, { extend: addSampleResource })
  const { key } = await fixtures.createOrg()
  const readShownError = (heading: string) =>
    JSON.parse(codeBlocks(findSection(readPage('docs/reference/errors.md'), heading))[0]!)
  assert.deepEqual(
    withExampleOrigin((await as(key).post('/samples', { nome: 'Welding' })).body),
    readShownError('## Partner API'),
  )
  assert.deepEqual(
    withExampleOrigin((await fetch('/api/v1/nothing')).body),
    readShownError('## Verification session API'),
  )
  assert.deepEqual(withExampleOrigin((await fetch('/api/nothing')).body), readShownError('## Skill catalogue API'))
})

/** Returns the anchor that GitHub generates for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function withoutCodeBlocks(text: string): string {
  return text.replace(/^```.*?^```/gms, '')
}

function findAnchors(path: string): Set<string> {
  return new Set(
    [...withoutCodeBlocks(readPage(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!)),
  )
}

function findLinks(path: string): { target: string; anchor: string | undefined }[] {
  const allLinks = [...withoutCodeBlocks(readPage(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)
  return allLinks
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [file, anchor] = link.split('#') as [string, string | undefined]
      return { target: file ? normalize(join(dirname(path), file)) : path, anchor }
    })
}

for (const page of pages) {
  test(`the links of ${page} are valid`, () => {
    for (const { target, anchor } of findLinks(page)) {
      assert.ok(existsSync(join(root, target)), `${page} links to ${target}`)
      if (anchor !== undefined) assert.ok(findAnchors(target).has(anchor), `${page} links to ${target}#${anchor}`)
    }
  })
}

test('the documentation pages to which the code refers exist', () => {
  for (const file of globSync('{cli,server,web,scripts,sdk}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: ['web/dist*/**'],
  })) {
    for (const [page] of readPage(file).matchAll(/\bdocs\/(?!openapi\/)[\w-]+\/[\w-]+\.(?:md|json)\b/g))
      assert.ok(existsSync(join(root, page)), `${file} refers to ${page}`)
  }
})

test('the threat model names an existing test for every threat, in each category of STRIDE', () => {
  const rows = findTable(readPage('docs/threat-model.md'), 'Threat')
  const categories = rows.filter(([threat]) => threat!.startsWith('**')).map(([category]) => category)
  assert.deepEqual(
    categories,
    [
      'Spoofing',
      'Tampering',
      'Repudiation',
      'Information disclosure',
      'Denial of service',
      'Elevation of privilege',
    ].map((name) => `**${name}**`),
  )
  for (const [threat, control, tests] of rows.filter(([threat]) => !threat!.startsWith('**'))) {
    const files = tests!.split(', ').map(withoutBackticks)
    assert.ok(control, `${threat} has a control`)
    for (const file of files) assert.ok(file.endsWith('.test.ts') && existsSync(join(root, file)), `${threat}: ${file}`)
  }
})

test('the index links to every guide, every page of the reference and the threat model', () => {
  const linkedPages = new Set(findLinks('docs/README.md').map(({ target }) => target))
  for (const file of globSync(['docs/{guides,reference}/*', 'docs/threat-model.md'], { cwd: root }))
    assert.ok(linkedPages.has(file), `docs/README.md links to ${file}`)
})
