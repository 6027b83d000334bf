import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }
import { catalogueErrorCodes, partnerErrorCodes, verificationErrorCodes } from '../../server/api/problem.ts'
import { renderVersions } from '../../server/docs/versions.ts'
import { ZipReader } from '../../server/platform/zip.ts'
import { assertAccessible } from '../browser/axe.ts'
import { newPage } from '../browser/browser.ts'
import { saveScreenshot } from '../browser/screenshots.ts'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { measureCpuMs } from '../support/cpu-limit.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const MAX_PAGE_BYTES = 60_000

const getApp = oncePerFile((t) => startApp(t))

/** Fetches the pages that can be reached from the overview by links, by path. */
const crawl = oncePerFile(async () => {
  const { fetch } = await getApp()
  const pages = new Map<string, string>()
  const waiting = ['/docs']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue
    const { status, body } = await fetch(path)
    assert.equal(status, 200, path)
    pages.set(path, body)
    for (const { path: target } of linksOf(path, body)) if (isPage(target)) waiting.push(target)
  }
  return pages
})

const isPage = (path: string) =>
  /^\/docs(\/|$)/.test(path) && !/^\/docs\/(api|openapi|collections|search|try)\b|\.(md|json)$/.test(path)

function linksOf(path: string, html: string): { path: string; anchor: string }[] {
  return [...html.matchAll(/ href="([^"]+)"/g)]
    .map(([, href]) => new URL(href!.replaceAll('&#38;', '&'), `http://site.invalid${path}`))
    .filter(({ host }) => host === 'site.invalid')
    .map(({ pathname, hash }) => ({ path: pathname, anchor: decodeURIComponent(hash.slice(1)) }))
}

const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)

test('every guide, reference page and decision is a page that links lead to', async () => {
  const pages = await crawl()
  for (const file of globSync('docs/{guides,reference,decisions}/*.md', { cwd: root })) {
    const path = `/${file.replace(/(\/README)?\.md$/, '')}`.replace('/reference/errors', '/errors')
    assert.ok(pages.has(path), path)
  }
  for (const path of ['/docs/threat-model', '/docs/changelog', '/docs/sdks/typescript', '/docs/sdks/go'])
    assert.ok(pages.has(path), path)
})

test('every page has one title, landmarks, unique anchors, the version, and at most 60 KB', async () => {
  for (const [path, html] of await crawl()) {
    assert.equal(html.match(/<h1>/g)?.length, 1, path)
    for (const part of [
      '<main id="main">',
      '<header',
      '<nav',
      '<footer',
      'href="#main"',
      `Attestry ${packageJson.version}`,
    ])
      assert.ok(html.includes(part), `${path} contains ${part}`)
    assert.equal(new Set(idsOf(html)).size, idsOf(html).length, `the anchors of ${path} are unique`)
    // The changelog grows with every release.
    if (path !== '/docs/changelog') assert.ok(Buffer.byteLength(html) <= MAX_PAGE_BYTES, `${path}: ${html.length}`)
  }
})

test('the page of versions lists the versions of the changelog, with their dates, tags and notes', async () => {
  const { fetch } = await getApp()
  const { headers, body } = await fetch('/docs/versions')
  assert.ok(body.includes(`Attestry-Version: ${headers.get('attestry-version')}`), 'the header of this server')
  const changelog = readFileSync(`${root}/CHANGELOG.md`, 'utf8')
  for (const [, name, date] of changelog.matchAll(/^## (\d\S+)(?: - (\S+))?$/gm))
    assert.ok(body.includes(date ? `<td>${name}</td><td>${date}</td>` : `<td>${name}</td><td>not released</td>`), name)
  assert.ok((await crawl()).has('/docs/versions'))

  const rows = renderVersions(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2027-01-15\n\n### Added\n\n- One.\n- Two.\n\n### Fixed\n\n- Three.\n\n## 0.1.0\n\nThe first.\n',
  ).match(/^\| \d.*$/gm)
  assert.deepEqual(rows, [
    '| 0.2.0 | 2027-01-15 | `v0.2.0` | [Notes](../CHANGELOG.md#020---2027-01-15): 2 added, 1 fixed |',
    '| 0.1.0 | not released | none | [Notes](../CHANGELOG.md#010) |',
  ])
})

test('no link of a page is broken', async () => {
  const { fetch } = await getApp()
  const pages = await crawl()
  const idsByPath = new Map([...pages].map(([path, html]) => [path, new Set(idsOf(html))]))
  const otherPaths = new Set<string>()
  for (const [path, html] of pages) {
    for (const { path: target, anchor } of linksOf(path, html)) {
      const ids = idsByPath.get(target)
      if (!ids) otherPaths.add(target)
      else if (anchor) assert.ok(ids.has(anchor), `${path} links to ${target}#${anchor}`)
    }
  }
  for (const path of otherPaths) assert.equal((await fetch(path, { method: 'HEAD' })).status, 200, path)
})

test('every error code of the three APIs has an anchor', async () => {
  const ids = new Set(idsOf((await crawl()).get('/docs/errors')!))
  const anchors = [
    ...Object.keys(partnerErrorCodes).map((code) => `partner-${code}`),
    ...Object.keys(verificationErrorCodes).map((code) => `verification-${code}`),
    ...Object.values(catalogueErrorCodes).map((status) => `catalogue-${status}`),
    ...[408, 421, 431].map((status) => `catalogue-${status}`),
  ]
  for (const anchor of anchors) assert.ok(ids.has(anchor), anchor)
})

test('the search finds sections by words and error codes, and shows a query as text', async () => {
  const { fetch } = await getApp()
  const search = async (query: string) => (await fetch(`/docs/search?q=${encodeURIComponent(query)}`)).body as string
  const firstResult = (html: string) => /<ol class="results"><li><a href="([^"]+)"/.exec(html)?.[1]
  assert.equal(firstResult(await search('WORKFLOW_IN_USE')), '/docs/errors#partner-WORKFLOW_IN_USE')
  assert.equal(firstResult(await search('test clock')), '/docs/guides/test-with-a-clock')
  assert.match(await search('Cooldown'), /href="\/docs\/reference\/limits#cooldown"[\s\S]*<mark>cooldown<\/mark>/i)
  const endpoint = '/docs/api/partner/job-mandates#createMandate'
  for (const query of ['POST /mandates', 'post /mandates'])
    assert.equal(firstResult(await search(query)), endpoint, query)
  assert.match(await search('/api/v1/verify'), /href="\/docs\/api\/verification\/sessions#openSession"/)
  for (const query of ['webhook', 'mandate', 'campaign', 'signature'])
    assert.match(
      firstResult(await search(query))!,
      /^\/docs\/(guides|reference|sdks)\/(?!performance|catalogue-quality)/,
      query,
    )
  for (const [misspelt, correction] of [
    ['webhok', 'webhook'],
    ['retry webhok', 'retry webhook'],
    ['campain', 'campaign'],
  ] as const)
    assert.ok(
      (await search(misspelt)).includes(
        `Did you mean <a href="/docs/search?q=${encodeURIComponent(correction)}">${correction}</a>?`,
      ),
      misspelt,
    )
  assert.match(await search('xyzzyplugh'), /No page contains this word: <strong>xyzzyplugh<\/strong>/)
  const html = await search('"><script>alert(1)</script>')
  assert.doesNotMatch(html, /<script/)
  assert.match(html, /value="&#34;&#62;&#60;script/)
  for (const query of ['', '***', 'a'.repeat(5000), 'a&q=b'])
    assert.equal((await fetch(`/docs/search?q=${query}`)).status, 200, query.slice(0, 20))
})

test('searches are limited per address', async (t) => {
  const { fetch } = await startApp(t)
  const search = async () => (await fetch('/docs/search?q=retry')).status
  const statuses = await Promise.all(Array.from({ length: 50 }, search))
  assert.deepEqual(
    [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length],
    [40, 10],
  )
  assert.equal((await fetch('/docs/search')).status, 200, 'the empty form')
})

test('each page is served as Markdown, with links to the Markdown of other pages', async () => {
  const { fetch } = await getApp()
  for (const path of (await crawl()).keys()) {
    const { status, headers, body } = await fetch(`${path}.md`)
    assert.equal(status, 200, path)
    assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8')
    assert.match(body, /^# /)
  }
  const { body } = await fetch('/docs/guides/run-a-campaign.md')
  assert.match(body, /\]\(\/docs\/guides\/sign-your-first-request\.md\)/)
  const { body: overview } = await fetch('/docs.md')
  assert.match(overview, /\]\(\/docs\/errors\.md\)/)
  assert.match(overview, /\[Vectors\]\(\/docs\/vectors\.json\)/)
})

test('no link of the Markdown of a page is broken', async () => {
  const { fetch } = await getApp()
  const pages = await crawl()
  const targets = new Map<string, string>()
  for (const path of pages.keys()) {
    const { body } = await fetch(`${path}.md`)
    const text = body.replace(/^ *```.*?^ *```|`[^`\n]+`/gms, '')
    for (const [, link] of text.matchAll(/\]\(([^)\s]+)/g)) {
      const { host, pathname, hash } = new URL(link!, `http://site.invalid${path}.md`)
      if (host !== 'site.invalid') continue
      assert.match(link!, /^[/#]/, `${path}.md links to a file`)
      targets.set(pathname, path)
      const html = pages.get(pathname.replace(/\.md$/, ''))
      if (html && hash) assert.ok(idsOf(html).includes(decodeURIComponent(hash.slice(1))), `${path}.md: ${link}`)
    }
  }
  assert.ok(targets.size > 50)
  for (const [target, path] of targets)
    assert.equal((await fetch(target, { method: 'HEAD' })).status, 200, `${path}.md links to ${target}`)
})

test('llms.txt lists every page with the public address', async () => {
  const { fetch, url } = await getApp()
  const { headers, body } = await fetch('/llms.txt')
  assert.match(headers.get('content-type')!, /^text\/plain/)
  for (const path of (await crawl()).keys()) assert.ok(body.includes(`](${url}${path}.md)`), path)
  const apiLinks = body.match(/^## API descriptions \(OpenAPI 3\.1\)\n\n((?:- .*\n)+)/m)![1]!.match(/\S+\.json(?=\))/g)
  assert.equal(apiLinks?.length, 3)
  assert.match(body, /\/docs\/errors\.md\): every error code of the three APIs, its cause and its fix\n/)
  for (const [, link] of body.matchAll(/\]\(([^)]+)\)/g)) assert.ok(link.startsWith(`${url}/docs`), link)
})

test('HTML in Markdown is shown as text, and comments are left out', async () => {
  const pages = await crawl()
  const html = [...pages.values()].join('')
  assert.doesNotMatch(html, /<script|<dependency|<\?php|<!--/)
  assert.match(pages.get('/docs/sdks/java')!, /&#60;dependency&#62;/)
})

test('links to files that are not pages become text with the path', async () => {
  const html = (await crawl()).get('/docs/guides/set-up-channels')!
  assert.match(html, /<code>data\/rules\/README\.md<\/code>/)
  const { body } = await (await getApp()).fetch('/docs/guides/set-up-channels.md')
  assert.match(body, /`data\/rules\/README\.md`/)
})

test('the signature vectors are served', async () => {
  const { fetch } = await getApp()
  assert.match((await crawl()).get('/docs')!, /<a href="\/docs\/vectors\.json">Vectors<\/a>/)
  const { body } = await fetch('/docs/vectors.json')
  assert.ok(body.requests.length > 0 && body.webhooks.length > 0)
})

test('an unknown page is an HTML page with status 404, and old addresses are redirected', async () => {
  const { fetch, url } = await getApp()
  for (const path of [
    '/docs/guides/nothing',
    '/docs/nothing.md',
    '/docs/a/b/c',
    '/docs/%3Cb%3E',
    '/docs/..%2fpackage.json',
  ]) {
    const { status, headers, body } = await fetch(path)
    assert.equal(status, 404, path)
    assert.match(headers.get('content-type')!, /^text\/html/)
    assert.match(body, /Page not found/)
    assert.doesNotMatch(body, /<b>/)
  }
  for (const [path, location] of [
    ['/docs/', '/docs'],
    ['/docs/?api=verification', '/docs/api/?api=verification'],
    ['/docs/api', '/docs/api/'],
    ['/docs/reference/errors', '/docs/errors'],
    ['/docs/guides/email/', '/docs/guides/email'],
  ]) {
    const response = await globalThis.fetch(url + path, { redirect: 'manual' })
    assert.deepEqual([response.status, response.headers.get('location')], [302, location], path)
  }
})

test('pages run no scripts, are compressed, and are not sent again if they have not changed', async () => {
  const { url } = await getApp()
  const response = await globalThis.fetch(`${url}/docs/errors`, { headers: { 'accept-encoding': 'br' } })
  const etag = response.headers.get('etag')!
  assert.equal(response.headers.get('content-encoding'), 'br')
  assert.match(
    response.headers.get('content-security-policy')!,
    /^default-src 'none'; style-src 'sha256-[^;]+; form-action 'self'/,
  )
  assert.doesNotMatch(await response.text(), /<script|\sstyle=|\son\w+=/)
  const repeated = await globalThis.fetch(`${url}/docs/errors`, { headers: { 'if-none-match': etag } })
  assert.equal(repeated.status, 304)
})

test('pages are accessible, fit on a phone, and can be searched without scripts', async (t) => {
  const { url } = await getApp()
  const page = await newPage(t, { width: 320, height: 640 })
  const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
  await page.goto(`${url}/docs/errors#partner-CONFLICT`)
  assert.ok(await fits())
  await page.goto(`${url}/docs`)
  assert.ok(await fits())
  await assertAccessible(page)
  await saveScreenshot(page, 'docs-phone')
  await page.getByRole('searchbox').fill('retry after')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('heading', { name: 'Search: retry after' }).waitFor()
  assert.ok((await page.locator('.results li').count()) > 3)
  assert.ok(await fits())
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto(`${url}/docs/guides/connect-greenhouse`)
  await assertAccessible(page)
  await saveScreenshot(page, 'docs-guide')
})

test('the documentation runs `npx attestry` only in the checkout', () => {
  const files = globSync('{*.md,cli/*.md,sdk/*.md,sdks/*/*.md,docs/{guides,reference}/*.md}', { cwd: root })
  for (const file of files) {
    const text = readFileSync(`${root}${file}`, 'utf8')
    // The name is not ours in the npm registry: these forms download whatever package has it.
    assert.doesNotMatch(text, /npx\s+(?:-\S+\s+)+(?:@?attestry\b|--package)|npx\s+@?attestry(?:\/cli)?@/, file)
    assert.doesNotMatch(text, /npm\s+(?:exec|create|init|install|i|add)\s+(?:-\S+\s+)*attestry\b/, file)
    assert.doesNotMatch(text, /(?:yarn|pnpm)\s+(?:dlx|add|exec)\s+(?:-\S+\s+)*attestry\b|bunx\s+attestry\b/, file)
  }
  const guide = readFileSync(`${root}docs/guides/use-the-command-line.md`, 'utf8')
  assert.match(guide, /Outside the checkout, do not run `npx attestry`/)
  const partnerBlocks = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!)
  for (const block of partnerBlocks) assert.doesNotMatch(block, /npx attestry/)
})

test('the collections can be downloaded', async () => {
  const { url } = await getApp()
  const postman = await fetch(`${url}/docs/collections/attestry.postman_collection.json`)
  assert.equal(((await postman.json()) as { info: { name: string } }).info.name, 'Attestry')
  const bruno = await fetch(`${url}/docs/collections/attestry-bruno.zip`)
  const zip = new ZipReader(Buffer.from(await bruno.arrayBuffer()), {
    maxEntries: 1000,
    maxEntryBytes: 100_000,
    maxTotalBytes: 5_000_000,
  })
  const ms = await measureCpuMs(5, { input: () => `${url}/docs/collections/attestry-bruno.zip`, run: readBody })
  assert.ok(ms <= 5, `a second download took ${ms.toFixed(1)} ms of CPU time`)
  assert.ok(zip.has('attestry/bruno.json') && zip.has('attestry/Partner API/Lookups/List shifts.bru'))
})

async function readBody(url: string): Promise<void> {
  await (await fetch(url)).arrayBuffer()
}
