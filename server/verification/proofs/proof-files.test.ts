import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { signInMember } from '../../../test/support/console.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { aJpeg, aPdf, aPng, aWebP } from '../../../test/support/proof-files.ts'
import { until } from '../../../test/support/until.ts'
import {
  BRICKLAYING,
  expectOk,
  outcomeOf,
  sharedVerification,
  type VerificationCalls,
  verificationCalls,
} from '../../../test/support/verification.ts'
import { readImage } from '../../branding/image.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { enforceRetention } from '../../privacy/retention/enforce.ts'
import { storeExpiredStatuses } from '../jobs.ts'
import { checkPdf } from './check-pdf.ts'
import { stripMetadata } from './strip-metadata.ts'

const start = sharedVerification()

type Session = Awaited<ReturnType<VerificationCalls['openSession']>>

function addFile({ call }: VerificationCalls, { token }: Session, content: Buffer, changes: object = {}) {
  const source = { sourceType: 'experience', externalId: 'w-1', name: 'wall.jpg' }
  return call('POST', `/verify/${token}/files`, {
    body: { ...source, content: content.toString('base64'), ...changes },
  })
}

/** Returns a PNG file that declares another size. */
function largePng(width: number, height: number): Buffer {
  const png = aPng()
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  return png
}

/** Opens a session whose review is requested, with one file, and returns what the reviewer gets. */
async function reviewFile(calls: VerificationCalls, content: Buffer) {
  const session = await calls.openPreparedSession('human')
  const added = await expectOk(addFile(calls, session, content))
  await expectOk(calls.storeReviewer(session))
  const token = await calls.getReviewToken(session)
  const { fileId } = added.body.data
  const body = { serviceVerificationId: session.id, token, fileId }
  const response = await expectOk(calls.call('POST', '/humanverification/file', { body }))
  return { session, token, file: added.body.data, bytes: Buffer.from(response.body.data.content, 'base64'), response }
}

test('the reviewer sees a photo without place, time and camera, in the right orientation', async () => {
  const calls = await start()
  const { session, file, bytes, response } = await reviewFile(calls, aJpeg({ orientation: 6 }))
  assert.equal(response.body.data.mediaType, 'image/jpeg')
  assert.equal(file.size, bytes.length)
  const text = bytes.toString('latin1')
  for (const secret of ['GPS-12.97', 'http://ns.adobe.com', 'by Asha', 'motion video', 'Photoshop'])
    assert.ok(!text.includes(secret), `${secret} is removed`)
  assert.ok(text.includes('ICC_PROFILE'), 'the colours stay')
  const exif = text.indexOf('Exif\0\0')
  assert.deepEqual(bytes.subarray(exif + 6, exif + 26), Buffer.from('4d4d002a00000008000101120003000000010006', 'hex'))
  assert.deepEqual(bytes.subarray(-6), Buffer.from([0x11, 0xff, 0x00, 0x22, 0xff, 0xd9]), 'the image data stays')
  const page = await calls.getReviewPage(session)
  assert.deepEqual(
    page.body.data.proofFiles.map(({ name, mediaType }: any) => [name, mediaType]),
    [['wall.jpg', 'image/jpeg']],
  )
})

test('PNG and WebP images lose their metadata, and PDF files stay as they are', async () => {
  const calls = await start()
  const png = await reviewFile(calls, aPng({ comment: 'by Asha' }))
  assert.deepEqual(png.bytes, aPng())
  const webp = await reviewFile(calls, aWebP({ metadata: true }))
  assert.deepEqual(webp.bytes, aWebP())
  const pdf = await reviewFile(calls, aPdf())
  assert.deepEqual(pdf.bytes, aPdf())
  assert.equal(pdf.response.body.data.mediaType, 'application/pdf')
})

test('files of other types, damaged files and PDF files with scripts or files are rejected', async () => {
  const calls = await start()
  const session = await calls.openPreparedSession('human')
  const objectStream = (text: string, keys = '/Type /ObjStm', data = deflateSync(Buffer.from(text))) => {
    const head = `1 0 obj << ${keys} /Filter /FlateDecode /Length ${data.length} >>\nstream\n`
    return Buffer.concat([Buffer.from(head), data, Buffer.from('\nendstream endobj')])
  }
  const script = '<< /S /JavaScript >>'
  const scriptStream = objectStream(script)
  const bad: [string, Buffer][] = [
    ['text', Buffer.from('hello')],
    ['HTML', Buffer.from('<script>alert(1)</script>')],
    ['a cut JPEG', aJpeg().subarray(0, -40)],
    ['a cut PNG', aPng().subarray(0, -20)],
    ['a PDF with a script', aPdf('<< /S /JavaScript /JS (app.alert(1)) >>')],
    ['a PDF with an escaped name', aPdf('<< /S /Java#53cript >>')],
    ['a PDF with a file', aPdf('<< /EF << /F 3 0 R >> >>')],
    ['a PDF with a script in an object stream', aPdf(objectStream('<< /S /JavaScript >>'))],
    [
      'a PDF with an unreadable object stream',
      aPdf('1 0 obj << /Type /ObjStm /Filter /LZWDecode >>\nstream\nx\nendstream'),
    ],
    ['an encrypted PDF', aPdf('trailer << /Encrypt 5 0 R >>')],
    ['a PDF with an action on opening', aPdf('<< /OpenAction << /S /URI /URI (https://example.com) >> >>')],
    ['a PDF with actions on events', aPdf('<< /AA << /O 3 0 R >> >>')],
    ['a PDF with a form in XML', aPdf('<< /XFA 3 0 R >>')],
    ['a PDF with a script in the data of a stream', aPdf(`1 0 obj << >>\nstream\n${script}\nendstream`)],
    ['a PDF with a string before the object stream', aPdf(objectStream(script, '/Type /ObjStm /X (obj)'))],
    [
      'a PDF with an object stream in comments',
      aPdf(Buffer.concat([Buffer.from('%stream\n'), scriptStream, Buffer.from('\n%endstream')])),
    ],
    [
      'a PDF with a cut object stream',
      aPdf(objectStream('', '/Type /ObjStm', deflateSync(Buffer.from('<< /Type /Page >>')).subarray(0, -8))),
    ],
    ['a PDF with several filters', aPdf(objectStream('<< >>', '/Type /ObjStm /Filter /ASCIIHexDecode'))],
    ['a PDF with a long dictionary', aPdf(objectStream('<< >>', `/Type /ObjStm /X (${'x'.repeat(5000)})`))],
    ['an image with too many pixels', largePng(5001, 5000)],
  ]
  for (const [name, content] of bad) {
    calls.clock.advance(1000)
    assert.equal(outcomeOf(await addFile(calls, session, content)), '400 INVALID_FILE', name)
  }
  calls.clock.advance(1000)
  assert.equal(outcomeOf(await addFile(calls, session, aPdf(objectStream('<< /Type /Page >>')))), '201')
  assert.equal(outcomeOf(await addFile(calls, session, largePng(5000, 5000))), '201')
  assert.equal(outcomeOf(await addFile(calls, session, aPng(), { externalId: 'other' })), '400 UNKNOWN_ITEM')
  assert.equal(outcomeOf(await addFile(calls, session, aPng(), { content: '?' })), '400 VALIDATION_FAILED')
  const large = Buffer.concat([aPng(), Buffer.alloc(5 * 1024 * 1024)])
  assert.equal(outcomeOf(await addFile(calls, session, large)), '413 PAYLOAD_TOO_LARGE')
  calls.clock.advance(1000)
  assert.equal(outcomeOf(await addFile(calls, session, Buffer.alloc(6 * 1024 * 1024))), '413 PAYLOAD_TOO_LARGE')
})

test('a session has at most five files, which can be deleted until the review is requested', async () => {
  const calls = await start()
  const session = await calls.openPreparedSession('human')
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    calls.clock.advance(1000)
    ids.push((await expectOk(addFile(calls, session, aPng()))).body.data.fileId)
  }
  assert.equal(outcomeOf(await addFile(calls, session, aPng())), '409 TOO_MANY_FILES')
  const deleteFile = (id: string, of = session) => calls.call('DELETE', `/verify/${of.token}/files/${id}`)
  const other = await calls.openPreparedSession('human', { student: { externalStudentId: 'stu-2' } })
  assert.equal(outcomeOf(await deleteFile(ids[0]!, other)), '404 NOT_FOUND')
  await expectOk(deleteFile(ids[0]!))
  calls.clock.advance(1000)
  const full = await expectOk(calls.call('GET', `/verify/${session.token}`))
  assert.deepEqual(
    full.body.data.proofFiles.map(({ fileId }: any) => fileId),
    ids.slice(1),
  )
  await expectOk(calls.storeReviewer(session))
  calls.clock.advance(1000)
  assert.equal(outcomeOf(await deleteFile(ids[1]!)), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await addFile(calls, session, aPng())), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await addFile(calls, { ...session, token: 'vst_none' }, aPng())), '404 SESSION_NOT_FOUND')
})

test('a file needs the token of the review, and belongs to the chosen items of one session', async () => {
  const calls = await start()
  const { session, token, file } = await reviewFile(calls, aPng())
  const get = (changes: object) =>
    calls.call('POST', '/humanverification/file', {
      body: { serviceVerificationId: session.id, token, fileId: file.fileId, ...changes },
    })
  assert.equal(outcomeOf(await get({})), '200')
  assert.equal(outcomeOf(await get({ token: 'vrt_wrong' })), '403 INVALID_TOKEN')
  assert.equal(outcomeOf(await get({ fileId: 'PF_NONE' })), '404 NOT_FOUND')
  const other = await calls.requestReview({ student: { externalStudentId: 'stu-2', email: 'other@example.com' } })
  assert.equal(outcomeOf(await get({ serviceVerificationId: other.session.id, token: other.token })), '404 NOT_FOUND')
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
  assert.equal(outcomeOf(await get({})), '409 ALREADY_SUBMITTED')
  assert.deepEqual((await calls.getReviewPage(session)).body.data.proofFiles, [])
  const withdrawal = { serviceVerificationId: session.id, token, reason: 'It was another person.' }
  await expectOk(calls.call('POST', '/humanverification/withdraw', { body: withdrawal }))
  assert.equal(outcomeOf(await get({})), '409 ALREADY_SUBMITTED')
})

test('the reviewer cannot read a file while the data of the student or the reviewer is restricted', async () => {
  const { app } = await start()
  const partner = await createPartner(app, 'live')
  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  const { session, token, file } = await reviewFile(calls, aPng())
  const body = { serviceVerificationId: session.id, token, fileId: file.fileId }
  for (const email of ['asha@example.com', 'ravi.menon@metro.example']) {
    const found = await expectOk(partner.get(`/people?email=${email}`))
    const path = `/people/${found.body.data.items[0].person_id}`
    const request = { basis: 'GDPR Article 18', requested_by: 'the person' }
    await expectOk(partner.post(`${path}/restrict`, request))
    assert.equal(outcomeOf(await calls.call('POST', '/humanverification/file', { body })), '403 FORBIDDEN', email)
    await expectOk(partner.post(`${path}/unrestrict`, request))
    assert.equal(outcomeOf(await calls.call('POST', '/humanverification/file', { body })), '200', email)
  }
})

test('the name of a file gets the extension of its type, and nothing that misleads', async () => {
  const calls = await start()
  const session = await calls.openPreparedSession('human')
  const names = {
    'certificate.hta': 'certificate.pdf',
    '../..\\C:\\scan.pdf.exe': 'C scan pdf.pdf',
    'wall\u202egpj.scr': 'wallgpj.pdf',
    'line\r\nbreak': 'line break.pdf',
    '.pdf': 'file.pdf',
    [`${'x'.repeat(150)}.pdf`]: `${'x'.repeat(80)}.pdf`,
  }
  for (const [name, stored] of Object.entries(names)) {
    calls.clock.advance(1000)
    const { body } = await expectOk(addFile(calls, session, aPdf(), { name }))
    assert.equal(body.data.name, stored)
    await expectOk(calls.call('DELETE', `/verify/${session.token}/files/${body.data.fileId}`))
  }
})

test('hostile files of 5 MB are checked in a short time', () => {
  const size = 5 * 1024 * 1024
  const repeat = (head: Buffer | string, part: Buffer | string) =>
    Buffer.concat([Buffer.from(head as string), Buffer.alloc(size - 100, part as string), Buffer.from('\n%%EOF\n')])
  const pdfs = [
    '/Filter [',
    '/ObjStm /Filter [',
    '/ObjStm stream\nendstream ',
    '/',
    '#53',
    '/J#61va',
    '1 ',
    'stream\nendstream',
  ]
  const files: [string, Buffer, (bytes: Buffer) => unknown][] = pdfs.map((part) => [
    part,
    repeat('%PDF-1.7\n', part),
    checkPdf,
  ])
  const bomb = deflateSync(Buffer.alloc(200 * 1024 * 1024))
  files.push([
    'bomb',
    aPdf(
      Buffer.concat([Buffer.from('<< /Type /ObjStm /Filter /FlateDecode >>stream\n'), bomb, Buffer.from('endstream')]),
    ),
    checkPdf,
  ])
  const jpeg = repeat(aJpeg().subarray(0, 2), Buffer.of(0xff, 0xdb, 0, 2))
  files.push(['JPEG', jpeg, (bytes) => stripMetadata(bytes, 'image/jpeg')])
  const png = repeat(aPng().subarray(0, 33), Buffer.from('000000007445587400000000', 'hex'))
  files.push(['PNG', png, (bytes) => [readImage(bytes), stripMetadata(bytes, 'image/png')]])
  for (const [name, bytes, check] of files) {
    const { user: before } = process.cpuUsage()
    check(bytes)
    const milliseconds = (process.cpuUsage().user - before) / 1000
    assert.ok(milliseconds < 300, `${name}: ${milliseconds} ms`)
  }
  assert.equal(stripMetadata(jpeg, 'image/jpeg'), undefined)
  assert.equal(readImage(png), undefined)
})

test('uploads are charged before the body is read, and few are received at the same time', async () => {
  const calls = await start()
  const open = (token: string, length: object = { 'content-length': 7_000_000 }, body = '{') => {
    const request = httpRequest(`${calls.app.url}/api/v1/verify/${token}/files`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...length },
    })
    request.on('error', () => {}) // destroyed below
    const response = new Promise<{ status: number; retryAfter: string | undefined }>((resolve) => {
      request.on('response', ({ statusCode, headers }) =>
        resolve({ status: statusCode!, retryAfter: headers['retry-after'] }),
      )
    })
    request.write(body)
    return { request, response }
  }
  const session = await calls.openPreparedSession('human')
  const firstResponse = (uploads: ReturnType<typeof open>[]) => Promise.race(uploads.map(({ response }) => response))
  const ofOneSession = [open(session.token), open(session.token), open(session.token)]
  assert.deepEqual(await firstResponse(ofOneSession), { status: 429, retryAfter: '10' })
  const openOfOthers = async ({ openPreparedSession }: Pick<typeof calls, 'openPreparedSession'>, count: number) => {
    const uploads: typeof ofOneSession = []
    for (let index = 2; index < 2 + count / 2; index++) {
      const other = await openPreparedSession('human', { student: { externalStudentId: `stu-${index}` } })
      uploads.push(open(other.token), open(other.token))
    }
    return uploads
  }
  const ofOrganisation = await openOfOthers(calls, 4)
  assert.deepEqual(await firstResponse(ofOrganisation), { status: 429, retryAfter: '10' }, 'half for one organisation')
  const others: typeof ofOneSession = []
  for (const count of [4, 2]) {
    const { orgId } = await calls.app.fixtures.createOrg()
    const ofOther = verificationCalls(calls.app, orgId, await calls.app.fixtures.createSessionKey(orgId))
    others.push(...(await openOfOthers(ofOther, count)))
  }
  assert.deepEqual(await firstResponse(others), { status: 503, retryAfter: '10' })
  for (const { request } of [...ofOneSession, ...ofOrganisation, ...others]) request.destroy()
  await until(async () => {
    calls.clock.advance(1000)
    return (await addFile(calls, session, aPng())).status === 201
  })
  calls.clock.advance(1000)
  for (let count = 0; count < 5; count++) await calls.call('GET', `/verify/${session.token}`)
  assert.equal((await open(session.token).response).status, 429, 'the rate limit applies before the body arrives')
  calls.clock.advance(400 * DAY)
  assert.equal((await open(session.token).response).status, 404, 'the session has expired')
  const unknown = open('vst_none', { 'transfer-encoding': 'chunked' }, ' '.repeat(300_000))
  assert.equal((await unknown.response).status, 413, 'a body of normal size is read at most')
})

test('files are deleted 30 days after the end of the session, unless the student has a legal hold', async () => {
  const { app } = await start()
  const partner = await createPartner(app, 'live')
  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  const reviewed = await reviewFile(calls, aPng())
  await expectOk(
    calls.submitReview(reviewed.session, reviewed.token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }),
  )
  const unfinished = await calls.openPreparedSession('human', {
    student: { externalStudentId: 'stu-2', email: 'other@example.com' },
  })
  await expectOk(addFile(calls, unfinished, aPng()))
  const { expiresAt } = await calls.getFullVerification(unfinished)
  const countFiles = async ({ id }: { id: string }) => {
    await storeExpiredStatuses(app.context)
    await enforceRetention(app.context)
    return (await app.context.db.pool.query('select 1 from proof_files where verification_id = $1', [id])).rows.length
  }
  const found = await expectOk(partner.get('/people?email=asha@example.com'))
  const holdPath = `/orgs/${partner.orgId}/live/people/${found.body.data.items[0].person_id}/hold`
  app.clock.advance(30 * DAY - HOUR)
  assert.equal(await countFiles(reviewed.session), 1)
  const owner = await signInMember(app, partner.orgId, 'owner')
  await expectOk(owner.put(holdPath, { reason: 'Case 4711' }))
  app.clock.advance(2 * HOUR)
  assert.equal(await countFiles(reviewed.session), 1, 'held')
  const laterOwner = await signInMember(app, partner.orgId, 'owner')
  await expectOk(laterOwner.put(holdPath, { reason: null }))
  assert.equal(await countFiles(reviewed.session), 0)
  assert.equal(await countFiles(unfinished), 1)
  app.clock.set(new Date(Date.parse(expiresAt) + 30 * DAY - HOUR).toISOString())
  assert.equal(await countFiles(unfinished), 1)
  app.clock.advance(31 * DAY)
  assert.equal(await countFiles(unfinished), 0)
})

test('files are part of the export of a student, and are deleted with the student', async () => {
  const { app } = await start()
  const partner = await createPartner(app, 'live')
  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  const { session, token, file } = await reviewFile(calls, aPng({ comment: 'by Asha' }))
  const found = await expectOk(partner.get('/people?email=asha@example.com'))
  const { person_id } = found.body.data.items[0]
  const exported = JSON.stringify((await expectOk(partner.get(`/people/${person_id}/export`))).body)
  assert.ok(exported.includes(aPng().toString('base64')))
  assert.ok(exported.includes('wall.png'))
  await expectOk(partner.post(`/people/${person_id}/erase`, { basis: 'GDPR Article 17', requested_by: 'the student' }))
  const body = { serviceVerificationId: session.id, token, fileId: file.fileId }
  assert.equal(outcomeOf(await calls.call('POST', '/humanverification/file', { body })), '410 DATA_ERASED')
  const { rows } = await app.context.db.pool.query('select 1 from proof_files where file_id = $1', [file.fileId])
  assert.equal(rows.length, 0)
})

test('files of items that were not chosen are not shown to the reviewer', async () => {
  const calls = await start()
  const session = await calls.openPreparedSession('human')
  const project = { sourceType: 'project', externalId: 'p-1' }
  const { fileId } = (await expectOk(addFile(calls, session, aPng(), project))).body.data
  await expectOk(calls.storeReviewer(session))
  assert.deepEqual((await calls.getReviewPage(session)).body.data.proofFiles, [])
  const body = { serviceVerificationId: session.id, token: await calls.getReviewToken(session), fileId }
  assert.equal(outcomeOf(await calls.call('POST', '/humanverification/file', { body })), '404 NOT_FOUND')
})
