import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { getEmail, listEmails, type NewEmail, queueEmail } from './mail.ts'
import { openSmtp } from './smtp.ts'

const SAMPLE_EMAIL: NewEmail = {
  kind: 'notice',
  to: { name: 'Asha', address: 'asha@example.com' },
  subject: 'आपकी समीक्षा',
  text: 'Hello Asha',
  html: '<p>Hello Asha</p>',
}

async function queueSampleEmail({ context }: TestApp, email = SAMPLE_EMAIL) {
  return context.db.transaction((tx) => queueEmail(tx, context, email))
}

test('an email is sent by SMTP once, with all its parts', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>' },
  })
  t.after(smtp.stop)

  const id = await queueSampleEmail(app)

  await until(async () => (await getEmail(app.context.db.queries, app.context.vault, id)).status === 'sent')
  assert.equal(smtp.received.length, 1)
  const receivedEmail = await PostalMime.parse(smtp.received[0]!)
  assert.equal(receivedEmail.subject, 'आपकी समीक्षा')
  assert.equal(receivedEmail.from?.address, 'post@example.org')
  assert.deepEqual(receivedEmail.to, [{ name: 'Asha', address: 'asha@example.com' }])
  assert.equal(receivedEmail.text?.trim(), 'Hello Asha')
  assert.equal(receivedEmail.html?.trim(), '<p>Hello Asha</p>')
  assert.equal(receivedEmail.messageId, `<${id}@example.org>`)
})

test('an email is not sent if its transaction is rolled back', async (t) => {
  const { context } = await startApp(t)

  await assert.rejects(
    context.db.transaction(async (tx) => {
      await queueEmail(tx, context, SAMPLE_EMAIL)
      throw new Error('rolled back')
    }),
  )

  assert.deepEqual(await listEmails(context.db.queries, { limit: 10 }), [])
})

test('without an SMTP server the email is stored encrypted and can be read', async (t) => {
  const app = await startApp(t, { worker: true })

  const id = await queueSampleEmail(app, { ...SAMPLE_EMAIL, text: 'the link is https://verify.test/#token=abc' })

  const { db, vault } = app.context
  await until(async () => (await getEmail(db.queries, vault, id)).status === 'kept')
  assert.match((await getEmail(db.queries, vault, id)).text, /#token=abc/)
  const { content } = await db.queries.selectFrom('mails').select('content').executeTakeFirstOrThrow()
  assert.ok(!content!.toString('latin1').includes('token=abc'))
})

test('a temporary SMTP error is retried, a permanent one fails the email', async (t) => {
  let calls = 0
  const smtp = await startSmtp({
    onRcptTo({ address }, _session, done) {
      calls++
      if (address.startsWith('nobody')) return done(Object.assign(new Error('no such user'), { responseCode: 550 }))
      if (calls === 1) return done(Object.assign(new Error('greylisted, try again'), { responseCode: 451 }))
      done()
    },
  })
  const app = await startApp(t, { worker: true, config: { smtpUrl: smtp.url } })
  t.after(smtp.stop)
  const { db, vault } = app.context

  const greylistedId = await queueSampleEmail(app)
  await until(async () => (await getEmail(db.queries, vault, greylistedId)).last_error !== null)
  const waitingEmail = await getEmail(db.queries, vault, greylistedId)
  assert.equal(waitingEmail.status, 'queued')
  assert.match(waitingEmail.last_error!, /greylisted/)
  const findRetries = () =>
    db.pool.query(
      `select extract(epoch from start_after - now()) as seconds from pgboss.job where name = 'send-mail' and state = 'retry'`,
    )
  await until(async () => (await findRetries()).rows.length === 1)
  const dueRetries = await findRetries()
  assert.ok(Number(dueRetries.rows[0].seconds) < 60, 'the first retry is due within a minute')
  await db.pool.query(`update pgboss.job set start_after = now() where name = 'send-mail'`)
  await until(async () => (await getEmail(db.queries, vault, greylistedId)).status === 'sent')

  const rejectedId = await queueSampleEmail(app, { ...SAMPLE_EMAIL, to: { address: 'nobody@example.com' } })
  await until(async () => (await getEmail(db.queries, vault, rejectedId)).status === 'failed')
  assert.match((await getEmail(db.queries, vault, rejectedId)).last_error!, /no such user/)
})

test('a password is sent to another machine with encryption only, unless the URL allows it', async (t) => {
  const passwords: unknown[] = []
  const server = await startSmtp({
    disabledCommands: ['STARTTLS'],
    onAuth({ password }, _session, done) {
      passwords.push(password)
      done(null, { user: 'asha' })
    },
  })
  t.after(server.stop)
  const verify = async (host: string, options = '') => {
    const smtp = await openSmtp(server.url.replace('127.0.0.1', `asha:secret@${host}`) + options)
    await smtp.verify().finally(smtp.close)
  }
  // This machine too, but an address that counts as another one.
  for (const options of ['', '?requireTLS=true']) await assert.rejects(verify('0.0.0.0', options), /STARTTLS|TLS/)
  assert.deepEqual(passwords, [])
  await verify('0.0.0.0', '?requireTLS=false')
  await verify('127.0.0.1')
  assert.deepEqual(passwords, ['secret', 'secret'])
})

test('a name or a subject cannot inject a header', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, { worker: true, config: { smtpUrl: smtp.url } })
  t.after(smtp.stop)

  const id = await queueSampleEmail(app, {
    ...SAMPLE_EMAIL,
    to: { name: 'Eve\r\nBcc: all@example.com', address: 'eve@example.com' },
    subject: 'Hello\u2028\r\nX-Evil: yes \u202eon',
  })

  await until(async () => (await getEmail(app.context.db.queries, app.context.vault, id)).status === 'sent')
  const receivedEmail = await PostalMime.parse(smtp.received[0]!)
  assert.ok(!receivedEmail.headers.some(({ key }) => key === 'x-evil' || key === 'bcc'))
  assert.equal(receivedEmail.bcc, undefined)
  assert.equal(receivedEmail.subject, 'Hello X-Evil: yes on')
  assert.deepEqual(receivedEmail.to, [{ name: 'Eve Bcc: all@example. com', address: 'eve@example.com' }])
})
