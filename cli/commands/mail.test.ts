import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ADMIN_KEY, startApp, type TestApp } from '../../test/support/app.ts'
import { nodeOptions } from '../../test/support/node-options.ts'
import { outcomeOf, verificationCalls } from '../../test/support/verification.ts'

/** Runs a command on the database of a server and returns its output. */
async function runCli({ context }: TestApp, ...args: string[]): Promise<string> {
  const { databaseUrl, masterKey } = context.config
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, 'cli/main.ts', ...args], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl!,
      MASTER_KEY: masterKey!.toString('base64'),
      ADMIN_API_KEY: ADMIN_KEY,
    },
  })
  return stdout
}

test('an operator suppresses a mailbox, lists suppressions and removes them', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const session = await calls.openPreparedSession('human')
  const storeReviewer = () => calls.storeReviewer(session, { email: 'bigboss@gmail.com' })

  const { suppression_id, reason } = JSON.parse(await runCli(app, 'mail', 'suppress', 'Big.Boss+x@gmail.com', '--json'))
  assert.equal(reason, 'operator')
  assert.equal(outcomeOf(await storeReviewer()), '409 REVIEWER_UNREACHABLE')
  const list = await runCli(app, 'mail', 'suppressions')
  assert.ok(list.includes(suppression_id))
  assert.doesNotMatch(list, /boss/i, 'the list has no addresses')
  assert.match(await runCli(app, 'mail', 'unsuppress', 'bigboss@googlemail.com'), /are allowed again/)
  assert.equal(outcomeOf(await storeReviewer()), '200')

  const entries = await app.context.db.queries.selectFrom('audit_log').select(['action', 'subject', 'actor']).execute()
  assert.deepEqual(
    entries.map(({ action, subject, actor }) => [action, subject, actor]),
    [
      ['mail.suppress', suppression_id, 'cli'],
      ['mail.unsuppress', suppression_id, 'cli'],
    ],
  )
})

test('the list and the text of an email say why it was not sent', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'))
  const { session } = await calls.requestReview()
  const [email] = await calls.listEmails(session)
  assert.match(await runCli(app, 'mail', 'list'), /kept .*TEST emails are stored, not sent/)
  assert.match(await runCli(app, 'mail', 'show', email!.mail_id), /Reason +TEST emails are stored, not sent/)
})
