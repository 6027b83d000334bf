import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { request } from 'undici'
import { checkOverHttp, holderCalls, issueCredential, readPublic } from '../../../test/support/issued-credentials.ts'
import { readPdfText } from '../../../test/support/pdf.ts'
import { sharedVerification, type VerificationCalls, verificationCalls } from '../../../test/support/verification.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { LANGUAGES } from '../../platform/text/languages.ts'
import { credentialTexts } from './texts.ts'

const setUp = sharedVerification()
const setUpTestMode = sharedVerification('test')

/** Sends a GET request without following redirects. */
async function get({ app }: VerificationCalls, path: string, headers: Record<string, string> = {}) {
  const response = await request(app.url + path, { headers })
  const bytes = Buffer.from(await response.body.arrayBuffer())
  return { status: response.statusCode, headers: response.headers, bytes, text: bytes.toString() }
}

test('all languages have the same texts with the same slots', () => {
  const slotsOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([slot]) => slot).sort()
  const english = Object.entries(credentialTexts('en')).map(([key, text]) => [key, slotsOf(text)])
  for (const language of LANGUAGES)
    assert.deepEqual(
      Object.entries(credentialTexts(language)).map(([key, text]) => [key, slotsOf(text)]),
      english,
      language,
    )
})

test('a credential is served as a page, JSON, JWT, PDF and picture, to every website', async () => {
  const calls = await setUp()
  const { url, id } = await issueCredential(calls)
  const path = new URL(url).pathname
  const page = await get(calls, path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  assert.match(String(page.headers['content-type']), /^text\/html/)
  assert.match(page.text, new RegExp(`<meta property="og:image" content="${url}\\.preview\\.png">`))
  assert.match(String(page.headers['content-security-policy']), /script-src 'self'; style-src 'self' 'sha256-/)
  assert.doesNotMatch(page.text, /<link rel="stylesheet"/)
  const linkedIn = new URL(/href="(https:\/\/www\.linkedin\.com[^"]+)"/.exec(page.text)![1]!.replaceAll('&#38;', '&'))
  const { validUntil } = JSON.parse((await get(calls, `${path}.json`)).text)
  assert.deepEqual(Object.fromEntries(linkedIn.searchParams), {
    startTask: 'CERTIFICATION_NAME',
    name: 'Bricklaying',
    organizationName: 'Acme Staffing',
    issueYear: String(new Date(calls.clock.now()).getUTCFullYear()),
    issueMonth: String(new Date(calls.clock.now()).getUTCMonth() + 1),
    expirationYear: String(new Date(validUntil).getUTCFullYear()),
    expirationMonth: String(new Date(validUntil).getUTCMonth() + 1),
    certUrl: url,
    certId: id,
  })

  for (const accept of ['application/json', 'application/ld+json', 'application/vc']) {
    const json = await get(calls, path, { accept })
    assert.match(String(json.headers['content-type']), /^application\/vc/)
    assert.equal(json.headers['access-control-allow-origin'], '*')
    assert.equal(JSON.parse(json.text).id, url)
  }
  assert.equal(JSON.parse((await get(calls, `${path}.json`)).text).proof[0].cryptosuite, 'eddsa-rdfc-2022')
  const jwt = await get(calls, `${path}.jwt`)
  assert.match(String(jwt.headers['content-type']), /^application\/vc\+jwt/)
  assert.equal(JSON.parse(Buffer.from(jwt.text.split('.')[1]!, 'base64url').toString()).id, url)

  const pdf = await get(calls, `${path}.pdf`)
  assert.equal(pdf.headers['content-type'], 'application/pdf')
  const attachment = readStreams(pdf.bytes).find((text) => text.startsWith('{"@context"'))
  assert.equal(JSON.parse(attachment!).id, url, 'the PDF contains the signed JSON')
  const hindiPdf = await get(calls, `${path}.pdf?lang=hi`)
  for (const { bytes } of [pdf, hindiPdf])
    assert.equal(bytes.toString('latin1').match(/\/Type \/Page\b/g)!.length, 1, 'the PDF has one page')
  const picture = await get(calls, `${path}.png`)
  assert.equal(picture.headers['content-type'], 'image/png')
  assert.deepEqual([picture.bytes.readUInt32BE(16), picture.bytes.readUInt32BE(20)], [1200, 630])
  // The picture is an Open Badge: it contains the credential. The picture for previews does not, because others cache it.
  const baked = await request(`${calls.app.url}/credentials/verify`, { method: 'POST', body: picture.bytes })
  assert.equal(((await baked.body.json()) as any).data.verdict, 'valid')
  const preview = await get(calls, `${path}.preview.png`)
  assert.equal(preview.headers['content-type'], 'image/png')
  assert.ok(!preview.text.includes('openbadgecredential'))
  assert.equal((await get(calls, `/credentials/${id}.exe`)).status, 404)
})

/** Returns the decompressed streams of a PDF file. */
function readStreams(pdf: Buffer): string[] {
  return [...pdf.toString('latin1').matchAll(/stream\n([\s\S]*?)\nendstream/g)].flatMap(([, stream]) => {
    try {
      return [inflateSync(Buffer.from(stream!, 'latin1')).toString()]
    } catch {
      return [] // a stream that is not compressed
    }
  })
}

const PERSONAL = /asha rao|asha@|98765 ?43210|example\.com/i

/** Returns all text on the pages and in the files of a credential: as sent, decompressed, decoded and drawn. */
async function readEverything(calls: VerificationCalls, { id, holderToken }: { id: string; holderToken: string }) {
  const { body } = await holderCalls(calls.app, holderToken).change({ profile_public: true })
  const paths = ['', '.json', '.jwt', '.pdf', '.png', '.preview.png'].map(
    (extension) => `/credentials/${id}${extension}`,
  )
  const files = await Promise.all([...paths, new URL(body.data.profile_url).pathname].map((path) => get(calls, path)))
  const wallet = await calls.app.fetch(`/credentials/${id}/wallet`, { method: 'POST' })
  const [, , jwt, pdf, , preview] = files
  return {
    texts: [
      ...files.flatMap(({ bytes, text }) => [text, ...readStreams(bytes)]),
      wallet.body as string,
      Buffer.from(jwt!.text.split('.')[1]!, 'base64url').toString(),
      readPdfText(pdf!.bytes),
    ],
    pdfText: readPdfText(pdf!.bytes),
    preview: preview!.bytes,
  }
}

test('no page, file or picture contains the address, the phone number or an unwanted name', async () => {
  const calls = await setUp()
  const { texts, pdfText, preview } = await readEverything(calls, await issueCredential(calls))
  for (const text of texts) assert.doesNotMatch(text, PERSONAL, text.slice(0, 200))
  assert.match(pdfText, /Bricklaying/)

  const student = { externalStudentId: 'stu-2' }
  const named = await readEverything(calls, await issueCredential(calls, { student, showName: true }))
  assert.match(named.pdfText, /Asha Rao/, 'the search would find a name in the PDF')
  assert.ok(named.texts.every((text) => !/asha@|98765 ?43210|example\.com/i.test(text)))
  // Others cache it, so that a name could not be withdrawn.
  assert.ok(named.preview.equals(preview), 'the picture for previews never shows the name')
})

test('the name of a person cannot inject markup', async () => {
  const calls = await setUp()
  const student = { name: '</script><img src=x onerror=alert(1)> "Asha"' }
  const issued = await issueCredential(calls, { student, showName: true })
  const { body } = await holderCalls(calls.app, issued.holderToken).change({ profile_public: true })
  for (const path of [`/credentials/${issued.id}`, new URL(body.data.profile_url).pathname]) {
    const { text } = await get(calls, path)
    assert.match(text, /&#60;\/script&#62;&#60;img src=x onerror=alert\(1\)&#62;/)
    assert.doesNotMatch(text, /<img|content="[^"]*"Asha/)
  }
})

test('the page is rendered in every language', async () => {
  const calls = await setUp()
  const { url } = await issueCredential(calls)
  const path = new URL(url).pathname
  for (const language of LANGUAGES) {
    const { status, text } = await get(calls, `${path}?lang=${language}`)
    assert.equal(status, 200)
    assert.ok(
      text.includes(`<html lang="${language}">`) && text.includes(escapeHtml(credentialTexts(language).proves_title!)),
    )
    calls.clock.advance(10_000)
  }
  assert.match((await get(calls, path, { 'accept-language': 'xx, kn;q=0.8' })).text, /<html lang="kn">/)
  assert.match((await get(calls, `${path}?lang=zz`)).text, /<html lang="en">/)
})

test('names cannot inject markup, and test credentials are marked', async () => {
  const { app } = await setUpTestMode()
  const { orgId } = await app.fixtures.createOrg('<img src=x onerror=alert(1)> & Sons')
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const { id, url, holderToken } = await issueCredential(calls)
  const path = new URL(url).pathname
  const { text } = await get(calls, path)
  assert.doesNotMatch(text, /<img/)
  assert.match(text, /&#60;img src=x onerror=alert\(1\)&#62; &#38; Sons \(TEST\)/)
  assert.match(text, /Test credential\. It says nothing about a real person\./)
  const { body } = await holderCalls(app, holderToken).change({ profile_public: true })
  const profile = await get(calls, new URL(body.data.profile_url).pathname)
  assert.match(profile.text, /Test credential\. It says nothing about a real person\./)

  const { credential } = await readPublic(app, id)
  const { verdict, is_local, test: isTest } = await checkOverHttp(app, credential)
  assert.deepEqual([verdict, is_local, isTest], ['valid', true, true])
  // The key of the deployment for LIVE records signs nothing of TEST mode.
  const headers = { authorization: `Bearer ${holderToken}` }
  const record = await (await fetch(`${app.url}/api/v1/holder/clr`, { headers })).text()
  const { issuer } = JSON.parse(Buffer.from(record.split('.')[1]!, 'base64url').toString())
  assert.equal(issuer.id, (await app.fetch('/test/did.json')).body.id)
  assert.match(issuer.id, /:test$/)
  assert.match(issuer.name, / \(TEST\)$/)
  const checkedRecord = await checkOverHttp(app, record)
  assert.deepEqual([checkedRecord.verdict, checkedRecord.test], ['valid', true])
})

test('an unknown or withdrawn credential and a hidden profile are explained', async () => {
  const calls = await setUp()
  const { id, session } = await issueCredential(calls)
  const path = `/credentials/${id}`
  await calls.call('POST', `/verify/${session.token}/credentials`, { body: { wanted: false } })
  const withdrawn = await get(calls, path)
  assert.equal(withdrawn.status, 404)
  assert.match(withdrawn.text, /There is no credential at this address\. It may have been deleted by its holder\./)
  const json = await get(calls, `${path}.json`)
  assert.equal(json.status, 404)
  assert.match(json.text, /Credential crd_\w+ not found/)
  const profile = await get(calls, '/profiles/NOTHING', { 'accept-language': 'hi' })
  assert.equal(profile.status, 404)
  assert.match(profile.text, /इस पते पर कोई प्रोफ़ाइल नहीं है।/)
})

test('the link of a credential leads to the one that replaces it', async () => {
  const calls = await setUp()
  const { id, holderToken: token } = await issueCredential(calls)
  const path = `/credentials/${id}`
  const response = await calls.call('PATCH', '/holder', {
    headers: { authorization: `Bearer ${token}` },
    body: { show_name: true },
  })
  const [{ credential_id: newId }] = response.body.data.credentials
  assert.notEqual(newId, id)
  const redirect = await get(calls, `${path}?lang=ta`)
  assert.deepEqual([redirect.status, redirect.headers.location], [302, `/credentials/${newId}?lang=ta`])
  assert.equal((await get(calls, `${path}.jwt`)).headers.location, `/credentials/${newId}.jwt`)
})

test('too many requests from an address are rejected with a page', async () => {
  const calls = await setUp()
  const { url } = await issueCredential(calls)
  const path = new URL(url).pathname
  // Unknown profiles take less time and count too.
  for (let batch = 0; batch < 10; batch++)
    await Promise.all(Array.from({ length: 30 }, () => get(calls, '/profiles/NOTHING')))
  const rejected = await get(calls, path)
  assert.equal(rejected.status, 429)
  assert.match(rejected.text, /Too many requests\. Please wait a moment and try again\./)
  assert.ok(Number(rejected.headers['retry-after']) > 0)
})
