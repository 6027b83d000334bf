import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { createPartner } from '../../../test/support/partners.ts'
import { aJpeg, aPdf, aPng, aWebP } from '../../../test/support/proof-files.ts'
import {
  BRICKLAYING,
  expectOk,
  outcomeOf,
  sharedVerification,
  type VerificationCalls,
  verificationCalls,
} from '../../../test/support/verification.ts'

const start = sharedVerification()

type Session = Awaited<ReturnType<VerificationCalls['openSession']>>

function addFile({ call }: VerificationCalls, { token }: Session, content: Buffer, changes: object = {}) {
  const source = { sourceType: 'experience', externalId: 'w-1', name: 'wall.jpg' }
  return call('POST', `/verify/${token}/files`, {
    body: { ...source, content: content.toString('base64'), ...changes },
  })
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
  const objectStream = (text: string) => {
    const data = deflateSync(Buffer.from(text))
    const head = `1 0 obj << /Type /ObjStm /Filter /FlateDecode /Length ${data.length} >>\nstream\n`
    return Buffer.concat([Buffer.from(head), data, Buffer.from('\nendstream endobj')])
  }
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
  ]
  for (const [name, content] of bad) {
    calls.clock.advance(1000)
    assert.equal(outcomeOf(await addFile(calls, session, content)), '400 INVALID_FILE', name)
  }
  calls.clock.advance(1000)
  assert.equal(outcomeOf(await addFile(calls, session, aPdf(objectStream('<< /Type /Page >>')))), '201')
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
  assert.ok(exported.includes('wall.jpg'))
  await expectOk(partner.post(`/people/${person_id}/erase`, { basis: 'GDPR Article 17', requested_by: 'the student' }))
  const body = { serviceVerificationId: session.id, token, fileId: file.fileId }
  assert.equal(outcomeOf(await calls.call('POST', '/humanverification/file', { body })), '403 INVALID_TOKEN')
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
