import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, getButton, getDialog, openConsolePage } from '../../../test/browser/console-page.ts'
import { issueCredential } from '../../../test/support/issued-credentials.ts'
import { startVerification } from '../../../test/support/verification.ts'

test('an owner filters and revokes credentials, changes the policy and rotates the key', async (t) => {
  const calls = await startVerification(t)
  const { app, orgId } = calls
  const { id } = await issueCredential(calls)
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/live/credentials`)
  const row = page.getByRole('row').filter({ hasText: 'Bricklaying' })
  await row.getByText('active').waitFor()
  await page.getByText(`:organisations:${orgId}`).waitFor()
  await checkPage(page, 'credentials')

  await page.getByLabel('External ID').fill('somebody-else')
  await page.getByLabel('External ID').press('Enter')
  await page.getByText('No credential matches this filter.').waitFor()
  await page.getByLabel('External ID').fill('stu-1')
  await page.getByLabel('External ID').press('Enter')
  await row.getByRole('button', { name: 'Revoke' }).click()
  await getDialog(page).getByLabel('Reason').selectOption({ label: 'Evidence is wrong' })
  await checkPage(page, 'credentials-revoke')
  await getButton(page, 'Revoke credential').click()
  await row.getByText('Evidence is wrong').waitFor()
  assert.equal(await row.getByRole('button', { name: 'Revoke' }).count(), 0)
  assert.match((await app.fetch(`/credentials/${id}`)).body, /Revoked on /)

  await page.getByLabel('Validity in months').fill('0')
  await getButton(page, 'Save policy').click()
  await page.locator('.field-error').waitFor()
  await page.getByLabel('Validity in months').fill('12')
  await getButton(page, 'Save policy').click()
  await page.getByText('Policy saved.').waitFor()

  const keyRow = page.getByRole('row').filter({ hasText: 'key-1' })
  await keyRow.getByRole('button', { name: 'Rotate' }).click()
  await getButton(page, 'Rotate key').click()
  await page.getByRole('row').filter({ hasText: 'key-2' }).getByText('active').waitFor()
  await keyRow.getByText('retired').waitFor()
  await checkPage(page, 'credentials-keys')
})
