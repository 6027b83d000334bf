import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { getMail, listMails, type OutgoingMail, queueMail } from './mail.ts'

const A_MAIL: OutgoingMail = {
  kind: 'notice',
  to: { name: 'Asha', address: 'asha@example.com' },
  subject: 'आपकी समीक्षा',
  text: 'Hello Asha',
  html: '<p>Hello Asha</p>',
}

async function send({ context }: TestApp, mail = A_MAIL) {
  return context.db.transaction((tx) => queueMail(tx, context, mail))
}

test('a mail goes out by SMTP, whole and once', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>' },
  })
  t.after(smtp.stop)

  const id = await send(app)

  await until(async () => (await getMail(app.context.db.queries, app.context.vault, id)).status === 'sent')
  assert.equal(smtp.received.length, 1)
  const mail = await PostalMime.parse(smtp.received[0]!)
  assert.equal(mail.subject, 'आपकी समीक्षा')
  assert.equal(mail.from?.address, 'post@example.org')
  assert.deepEqual(mail.to, [{ name: 'Asha', address: 'asha@example.com' }])
  assert.equal(mail.text?.trim(), 'Hello Asha')
  assert.equal(mail.html?.trim(), '<p>Hello Asha</p>')
  assert.equal(mail.messageId, `<${id}@example.org>`)
})

test('a mail is not sent when the transaction that asked for it is undone', async (t) => {
  const { context } = await startApp(t)

  await assert.rejects(
    context.db.transaction(async (tx) => {
      await queueMail(tx, context, A_MAIL)
      throw new Error('changed my mind')
    }),
  )

  assert.deepEqual(await listMails(context.db.queries, { limit: 10 }), [])
})

test('without a mail server the mail is kept, sealed, and can be read', async (t) => {
  const app = await startApp(t, { worker: true })

  const id = await send(app, { ...A_MAIL, text: 'the link is https://verify.test/#token=abc' })

  const { db, vault } = app.context
  await until(async () => (await getMail(db.queries, vault, id)).status === 'kept')
  assert.match((await getMail(db.queries, vault, id)).text, /#token=abc/)
  const { content } = await db.queries.selectFrom('mails').select('content').executeTakeFirstOrThrow()
  assert.ok(!content.toString('latin1').includes('token=abc'))
})

test('a greylisting server gets the mail again, a refusal for good ends it', async (t) => {
  let calls = 0
  const smtp = await startSmtp({
    onRcptTo({ address }, _session, done) {
      calls++
      if (address.startsWith('nobody')) return done(Object.assign(new Error('no such user'), { responseCode: 550 }))
      if (calls === 1) return done(Object.assign(new Error('greylisted, come again'), { responseCode: 451 }))
      done()
    },
  })
  const app = await startApp(t, { worker: true, config: { smtpUrl: smtp.url } })
  t.after(smtp.stop)
  const { db, vault } = app.context

  const greylisted = await send(app)
  await until(async () => (await getMail(db.queries, vault, greylisted)).last_error !== null)
  const waiting = await getMail(db.queries, vault, greylisted)
  assert.equal(waiting.status, 'queued')
  assert.match(waiting.last_error!, /greylisted/)
  const retries = () =>
    db.pool.query(
      `select extract(epoch from start_after - now()) as seconds from pgboss.job where name = 'send-mail' and state = 'retry'`,
    )
  await until(async () => (await retries()).rows.length === 1)
  const due = await retries()
  assert.ok(Number(due.rows[0].seconds) < 60, 'the first retry comes within a minute')
  await db.pool.query(`update pgboss.job set start_after = now() where name = 'send-mail'`)
  await until(async () => (await getMail(db.queries, vault, greylisted)).status === 'sent')

  const refused = await send(app, { ...A_MAIL, to: { address: 'nobody@example.com' } })
  await until(async () => (await getMail(db.queries, vault, refused)).status === 'failed')
  assert.match((await getMail(db.queries, vault, refused)).last_error!, /no such user/)
})

test('nothing in a name or a subject starts a header of its own', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, { worker: true, config: { smtpUrl: smtp.url } })
  t.after(smtp.stop)

  const id = await send(app, {
    ...A_MAIL,
    to: { name: 'Eve\r\nBcc: all@example.com', address: 'eve@example.com' },
    subject: 'Hello\u2028\r\nX-Evil: yes \u202eon',
  })

  await until(async () => (await getMail(app.context.db.queries, app.context.vault, id)).status === 'sent')
  const mail = await PostalMime.parse(smtp.received[0]!)
  assert.ok(!mail.headers.some(({ key }) => key === 'x-evil' || key === 'bcc'))
  assert.equal(mail.bcc, undefined)
  assert.equal(mail.subject, 'Hello X-Evil: yes on')
  assert.deepEqual(mail.to, [{ name: 'Eve Bcc: all@example.com', address: 'eve@example.com' }])
})
