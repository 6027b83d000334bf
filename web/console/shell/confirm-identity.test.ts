import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getEmail, listEmails } from '../../../server/mail/mail.ts'
import { MINUTE } from '../../../server/platform/clock.ts'
import {
  checkPage,
  getButton,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { OPERATOR_EMAIL, signIn } from '../../../test/support/console.ts'

async function readCode({ context }: TestApp): Promise<string> {
  const [email] = await listEmails(context.db.queries, { kind: 'sign_in', limit: 1 })
  const { text } = await getEmail(context.db.queries, context.vault, email!.mail_id)
  return /\d{4} \d{4}/.exec(text)![0]
}

test('a sensitive change asks for an emailed code and then continues', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const page = await openConsolePage(t, app)
  await getNavLink(page, 'Operators').click()
  await waitForHeading(page, 'Operators')
  app.clock.advance(20 * MINUTE)

  await getButton(page, 'Add operator').click()
  const addDialog = page.getByRole('dialog', { name: 'Add operator' })
  await addDialog.getByLabel('Email address').fill('meera@example.com')
  await addDialog.getByRole('button', { name: 'Add operator' }).click()
  const codeDialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await codeDialog.getByText(`emailed to ${OPERATOR_EMAIL}`).waitFor()
  await codeDialog.getByText(`npx attestry operator link ${OPERATOR_EMAIL}`).waitFor()
  await codeDialog.getByLabel('Code').fill('00')
  await codeDialog.getByRole('button', { name: 'Confirm' }).click()
  await codeDialog.getByText('This code is wrong or has expired.').waitFor()
  await checkPage(page, 'confirm-identity')
  await codeDialog.getByLabel('Code').fill(await readCode(app))
  await codeDialog.getByRole('button', { name: 'Confirm' }).click()
  const row = page.getByRole('row', { name: /meera@example.com/ })
  await row.waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  await checkPage(page, 'operators')

  await row.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await row.getByText('Removed').waitFor()

  app.clock.advance(20 * MINUTE)
  await getButton(page, 'Add operator').click()
  await addDialog.getByLabel('Email address').fill('nikhil@example.com')
  await addDialog.getByRole('button', { name: 'Add operator' }).click()
  await codeDialog.getByRole('button', { name: 'Close' }).click()
  await addDialog.getByText('signed in within the last 15 minutes').waitFor()
})

test('the sessions page lists the sessions of the user and ends another one', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const otherSession = await signIn(app)
  const page = await openConsolePage(t, app)
  await page.getByRole('link', { name: 'Your sessions' }).click()
  await waitForHeading(page, 'Your sessions')
  await page.getByRole('cell', { name: 'This session' }).waitFor()
  await checkPage(page, 'sessions')
  await getButton(page, 'End session').click()
  await getButton(page, 'End session').waitFor({ state: 'detached' })
  assert.equal((await otherSession.get('/session')).status, 401)
  await getButton(page, 'Sign out everywhere').click()
  await waitForHeading(page, 'Sign in to the console')
})
