import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../test/support/console.ts'
import { jpegHeader, pngChunk, pngImage, webpHeader } from '../../test/support/images.ts'
import { holderCalls, issueCredential } from '../../test/support/issued-credentials.ts'
import { readPdfText } from '../../test/support/pdf.ts'
import { until } from '../../test/support/until.ts'
import { requestReview, verificationCalls } from '../../test/support/verification.ts'
import { contactTestCandidate, yourDataCalls } from '../../test/support/your-data.ts'
import { handleConsoleJobs } from '../console/jobs.ts'
import { getErasureProgress } from '../offboarding/erase-organisation.ts'
import { checkColour, contrast } from './colour.ts'

const getApp = oncePerFile((t) => startApp(t))

const LOGO = pngImage(320, 80)
const BRANDING = {
  display_name: 'Metro Staffing',
  logo: LOGO.toString('base64'),
  colour: '#7A1FA2',
  reply_to: 'jobs@metro.example',
  footer: 'Metro Staffing Private Limited, Pune',
  homepage: 'https://www.metro.example/jobs',
}

/** Saves branding as an owner of the organisation, and returns calls of the owner to its settings. */
async function brandedOrganisation(app: TestApp, orgId?: string) {
  const id = orgId ?? (await app.fixtures.createOrg()).orgId
  const owner = await signInMember(app, id, 'owner')
  const path = `/orgs/${id}/branding`
  const saved = await owner.put(path, BRANDING)
  assert.equal(saved.status, 200, JSON.stringify(saved.body))
  return { orgId: id, owner, path, branding: saved.body.data, put: (body: object) => owner.put(path, body) }
}

test('an owner sets the branding, changes a part of it and removes it', async () => {
  const app = await getApp()
  const { orgId, owner, path, branding, put } = await brandedOrganisation(app)
  const { organisation_name, logo, ...fields } = branding
  assert.deepEqual(fields, {
    display_name: 'Metro Staffing',
    colour: '#7a1fa2',
    reply_to: 'jobs@metro.example',
    footer: 'Metro Staffing Private Limited, Pune',
    homepage: 'https://www.metro.example/jobs',
  })
  assert.deepEqual([logo.width, logo.height], [320, 80])

  const changed = (await put({ footer: '  Metro\u202e Staffing,\nPune ' })).body.data
  assert.equal(changed.footer, 'Metro Staffing, Pune')
  assert.equal(changed.logo.url, logo.url)
  const removed = await put(Object.fromEntries(Object.keys(BRANDING).map((name) => [name, null])))
  assert.equal(removed.body.data.logo, null)
  assert.deepEqual((await owner.get(path)).body.data, {
    organisation_name,
    display_name: null,
    logo: null,
    colour: null,
    reply_to: null,
    footer: null,
    homepage: null,
  })
  const { rows } = await app.context.db.pool.query('select 1 from branding where org_id = $1', [orgId])
  assert.equal(rows.length, 0)

  const audit = (await owner.get(`/orgs/${orgId}/audit`)).body.data.items
  const entries = audit.filter(({ action }: { action: string }) => action === 'branding.change')
  assert.equal(entries.length, 3)
  assert.equal(entries.at(-1).details.display_name, 'Metro Staffing')
  assert.doesNotMatch(JSON.stringify(entries), /jobs@metro/)
})

test('viewers and recruiters can read the branding and not change it, and other organisations can do neither', async () => {
  const app = await getApp()
  const { orgId, path } = await brandedOrganisation(app)
  for (const role of ['viewer', 'recruiter'] as const) {
    const member = await signInMember(app, orgId, role)
    assert.equal((await member.get(path)).body.data.display_name, 'Metro Staffing')
    assert.equal((await member.put(path, { footer: 'x' })).status, 403)
  }
  const stranger = await signInMember(app, (await app.fixtures.createOrg()).orgId, 'owner')
  for (const response of [
    await stranger.get(path),
    await stranger.put(path, { footer: 'x' }),
    await stranger.get(`${path}/colour?colour=%23000000`),
  ])
    assert.ok([403, 404].includes(response.status), String(response.status))
  assert.equal((await app.fetch(`/console/api${path}`)).status, 401)
})

test('invalid values are rejected with the field and the reason', async () => {
  const app = await getApp()
  const { path, owner, put } = await brandedOrganisation(app)
  const noise = Buffer.alloc(101 * 1024, 7)
  const cases: [object, string, RegExp][] = [
    [{ display_name: 'Metro https://evil.example' }, 'display_name', /web address/],
    [{ display_name: 'metro.com' }, 'display_name', /web address/],
    [{ display_name: '   ' }, 'display_name', /blank/],
    [{ display_name: '\u200b\u202e' }, 'display_name', /visible/],
    [{ display_name: 'x'.repeat(101) }, 'display_name', /100/],
    [{ footer: 'See www.metro.example' }, 'footer', /web address/],
    [{ reply_to: 'jobs' }, 'reply_to', /email address/],
    [{ reply_to: 'a@b.example, c@d.example' }, 'reply_to', /email address/],
    [{ homepage: 'http://metro.example' }, 'homepage', /https/],
    [{ homepage: 'javascript:alert(1)' }, 'homepage', /https/],
    [{ homepage: 'https://user:secret@metro.example' }, 'homepage', /https/],
    [{ colour: 'purple' }, 'colour', /hexadecimal/],
    [{ colour: '#ffcc00' }, 'colour', /contrast is 1\.\d+:1 with white text .* use #[0-9a-f]{6}/],
    [
      { logo: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64') },
      'logo',
      /PNG, JPEG or WebP/,
    ],
    [{ logo: Buffer.from('GIF89a').toString('base64') }, 'logo', /PNG, JPEG or WebP/],
    [{ logo: LOGO.subarray(0, 20).toString('base64') }, 'logo', /PNG, JPEG or WebP/],
    [{ logo: '!' }, 'logo', /PNG, JPEG or WebP/],
    [{ logo: pngImage(10, 10, [pngChunk('tEXt', noise)]).toString('base64') }, 'logo', /100 KB; this file has 102 KB/],
    [{ logo: pngImage(10, 1025).toString('base64') }, 'logo', /10 × 1025/],
    [{ logo: jpegHeader(2000, 10).toString('base64') }, 'logo', /2000 × 10/],
    [{ logo: webpHeader(10, 5000).toString('base64') }, 'logo', /10 × 5000/],
    [{ logo: webpHeader(10, 10, true).toString('base64') }, 'logo', /animated/],
    [{ logo: pngImage(10, 10, [pngChunk('acTL', Buffer.alloc(8))]).toString('base64') }, 'logo', /animated/],
  ]
  for (const [body, field, message] of cases) {
    const response = await put(body)
    assert.equal(response.status, 400, JSON.stringify(body).slice(0, 100))
    const [detail] = response.body.error.details
    assert.equal(detail.path, field)
    assert.match(detail.message, message)
  }
  assert.equal((await put({ unknown: 1 })).status, 400)
  assert.equal((await owner.get(path)).body.data.colour, '#7a1fa2', 'nothing was stored')
  for (const [image, extension] of [
    [jpegHeader(200, 50), 'jpeg'],
    [webpHeader(200, 50), 'webp'],
  ] as const) {
    const { logo } = (await put({ logo: image.toString('base64') })).body.data
    assert.deepEqual([logo.width, logo.height], [200, 50])
    assert.ok(logo.url.endsWith(`.${extension}`))
  }
})

test('the contrast of a colour is returned with the nearest readable colour', async () => {
  const app = await getApp()
  const { path, owner } = await brandedOrganisation(app)
  const { data } = (await owner.get(`${path}/colour?colour=%23ffcc00`)).body
  assert.equal(data.isReadable, false)
  assert.equal(data.whiteText, 1.51)
  assert.equal((await owner.put(path, { colour: data.suggestion })).status, 200)
  assert.equal((await owner.get(`${path}/colour?colour=red`)).status, 400)

  assert.equal(contrast('#000000', '#ffffff'), 21)
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48') // a known example of WCAG
  for (const colour of ['#000000', '#ffffff', '#ff0000', '#00ff00', '#0000ff', '#1d5fbf', '#808080', '#ffcc00']) {
    const { suggestion, colours } = checkColour(colour)
    assert.equal(checkColour(suggestion).isReadable, true, colour)
    assert.ok(contrast(colours.light, '#ffffff') >= 4.5 && contrast(colours.light, '#f6f5f1') >= 4.5, colour)
    assert.ok(contrast(colours.dark, '#1b211e') >= 4.5 && contrast(colours.dark, '#121714') >= 4.5, colour)
    assert.ok(contrast(colours.dark, colours.darkText) >= 4.5, colour)
    assert.ok(contrast(colours.light, colours.lightTint) >= 4.5, colour)
    assert.ok(contrast(colours.dark, colours.darkTint) >= 4.5, colour)
  }
})

test('the logo is served unchanged with its type, cached for a long time, and cannot run as a page', async () => {
  const app = await getApp()
  const { orgId, branding, put } = await brandedOrganisation(app)
  const { url } = branding.logo
  assert.match(url, new RegExp(`^/brand/${orgId}/logo/[0-9a-f]{16}\\.png$`))
  const response = await fetch(app.url + url)
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.ok(bytes.equals(LOGO))
  assert.equal(response.headers.get('content-type'), 'image/png')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  assert.match(response.headers.get('cache-control')!, /max-age=31536000, immutable/)
  assert.equal(response.headers.get('content-security-policy'), "default-src 'none'; sandbox")

  await put({ logo: pngImage(64, 64).toString('base64') })
  const earlier = await fetch(app.url + url, { redirect: 'manual' })
  assert.equal(earlier.status, 302, 'the logo of an earlier email leads to the current one')
  assert.notEqual(earlier.headers.get('location'), url)
  await put({ logo: null })
  assert.equal((await fetch(app.url + url)).status, 404)
  assert.equal((await fetch(`${app.url}/brand/ORG_%00/logo/x.png`)).status, 404)
})

test('the page of a candidate has the logo, the colours, the icon and the preview of the link', async () => {
  const app = await getApp()
  const { partner, token } = await contactTestCandidate(app)
  const plain = await app.fetch(`/c/${token}`)
  assert.doesNotMatch(plain.body, /og:|--own:|brand-logo/)
  const { branding } = await brandedOrganisation(app, partner.orgId)
  const { body, headers } = await app.fetch(`/c/${token}`)
  assert.ok(body.includes(`<link rel="icon" href="${branding.logo.url}">`))
  assert.match(body, /<img class="brand-logo" src="[^"]+" width="96" height="24" alt="" loading="lazy">/)
  assert.match(body, /<meta property="og:site_name" content="Metro Staffing">/)
  assert.match(body, /<meta property="og:title" content="[^"]+">/)
  assert.ok(body.includes(`<meta property="og:image" content="${app.context.config.publicUrl}${branding.logo.url}">`))
  assert.doesNotMatch(/<head>.*<\/head>/s.exec(body)![0], /Person 1/, 'the preview does not name the person')
  const style = /<style>(:root\{--own:#7a1fa2;[^<]*)<\/style>/.exec(body)![1]!
  const hash = createHash('sha256').update(style).digest('base64')
  assert.ok(headers.get('content-security-policy')!.includes(`'sha256-${hash}'`))
  assert.doesNotMatch(body, /jobs@metro\.example/, 'pages do not contain the reply address')

  const { brand } = (await yourDataCalls(app, 'candidate', token).view()).body.data
  assert.equal(brand.name, 'Metro Staffing')
  assert.equal(brand.replyTo, undefined)
})

test('the pages of reviewers, students and credentials have the look of the organisation', async () => {
  const app = await getApp()
  const { orgId, branding } = await brandedOrganisation(app)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const { session } = await calls.requestReview()
  const reviewPage = (await app.fetch(`/verify/${session.id}`)).body
  assert.match(reviewPage, /<script type="application\/json" id="brand">\{"name":"Metro Staffing"/)
  assert.match(reviewPage, /og:title" content="Metro Staffing"/)
  assert.match(reviewPage, /--own:#7a1fa2/)
  assert.doesNotMatch((await app.fetch('/verify/SV_unknown')).body, /id="brand"/)

  assert.equal((await calls.getFullVerification(session)).brand.colours.light, '#7a1fa2')
  assert.match((await app.fetch(`/session?org=${orgId}`)).body, /og:title" content="Metro Staffing"/)
  assert.doesNotMatch((await app.fetch('/session')).body, /og:title/)

  const { id } = await issueCredential(calls, { student: { externalStudentId: 's2', email: 'second@example.com' } })
  const credentialPage = (await app.fetch(`/credentials/${id}`)).body
  assert.match(credentialPage, /<span class="brand-name"><img class="brand-logo"/)
  assert.ok(credentialPage.includes(`<link rel="icon" href="${branding.logo.url}">`))
  assert.doesNotMatch(credentialPage, /--own:/, 'the colours of the check keep their meaning')
  assert.match(credentialPage, /Metro Staffing Private Limited, Pune.*>metro\.example<\/a>/)
})

test('the profile, the wallet page and the page that manages credentials have the look of the organisation', async () => {
  const app = await getApp()
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const { id, holderToken } = await issueCredential(calls)
  const holder = holderCalls(app, holderToken)
  const { profile_url, ...plainView } = (await holder.change({ profile_public: true })).body.data
  assert.equal('brand' in plainView, false)
  const getProfile = async () => (await app.fetch(new URL(profile_url).pathname)).body
  const getWalletPage = async () => (await app.fetch(`/credentials/${id}/wallet`, { method: 'POST' })).body
  const getFile = async (extension: string) =>
    Buffer.from(await (await fetch(`${app.url}/credentials/${id}${extension}`)).arrayBuffer())
  const plainPicture = await getFile('.preview.png')
  for (const page of [await getProfile(), await getWalletPage()]) assert.doesNotMatch(page, /--own:#|class="brand-/)

  const { branding } = await brandedOrganisation(app, orgId)
  for (const page of [await getProfile(), await getWalletPage()]) {
    assert.match(page, /<span class="brand-name"><img class="brand-logo"[^>]*><span dir="auto">Metro Staffing</)
    assert.ok(page.includes(`<link rel="icon" href="${branding.logo.url}">`))
    assert.match(page, /<style>:root\{--own:#7a1fa2;/)
    assert.match(page, /Metro Staffing Private Limited, Pune.*>metro\.example<\/a>/)
    assert.doesNotMatch(page, /jobs@metro\.example/)
  }
  const { brand } = (await holder.view()).body.data
  assert.deepEqual([brand.name, brand.colours.light, brand.replyTo], ['Metro Staffing', '#7a1fa2', undefined])
  assert.match(readPdfText(await getFile('.pdf')), /Metro Staffing/)
  assert.ok(!plainPicture.equals(await getFile('.preview.png')), 'the picture is not the cached one without branding')
})

test('an organisation without branding has the look of Attestry', async () => {
  const app = await getApp()
  const { session, ...calls } = await requestReview(app)
  assert.doesNotMatch((await app.fetch(`/verify/${session.id}`)).body, /id="brand"|og:/)
  assert.equal('brand' in (await calls.getFullVerification(session)), false)
  const [email] = await calls.listEmails(session)
  assert.equal(email!.fromName, undefined)
  assert.equal(email!.replyTo, 'asha@example.com')
})

test('the export of an organisation contains its branding, and the erasure deletes it', async (t) => {
  const app = await startApp(t, { worker: handleConsoleJobs })
  const { orgId, branding } = await brandedOrganisation(app)
  const operator = await signIn(app)
  const exported = await fetch(`${app.url}/console/api/operator/orgs/${orgId}/export.ndjson`, {
    headers: { cookie: operator.cookie },
  })
  const row = (await exported.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .find(({ table }) => table === 'branding')?.row
  assert.equal(row.display_name, 'Metro Staffing')
  assert.ok(Buffer.from(row.logo, 'base64').equals(LOGO))

  const { organisation_name } = branding
  const erased = await operator.post(`/operator/orgs/${orgId}/erase`, { confirm_name: organisation_name, basis: 'End' })
  assert.equal(erased.status, 202, JSON.stringify(erased.body))
  await until(async () => (await getErasureProgress(app.context.db.queries, orgId)).status === 'erased')
  const { rows } = await app.context.db.pool.query('select 1 from branding where org_id = $1', [orgId])
  assert.equal(rows.length, 0)
  assert.equal((await fetch(app.url + branding.logo.url)).status, 404)
})
