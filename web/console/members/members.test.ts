import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getEmail, listEmails } from '../../../server/mail/mail.ts'
import { DAY } from '../../../server/platform/clock.ts'
import { newPage } from '../../../test/browser/browser.ts'
import {
  checkPage,
  getButton,
  getDialog,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'

test('a member signs in by email and sees only the pages that their role permits', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  await app.fixtures.createOrg('Other organisation')
  const owner = await signInMember(app, orgId, 'owner', 'owner@metro.example')
  const operatorPage = await openConsolePage(t, app)
  const page = await newPage(t)

  await page.goto(`${app.url}/console`)
  await page.getByLabel('Email address').fill(owner.email!)
  await getButton(page, 'Email me a sign-in link').click()
  await page.getByText('we sent a sign-in link').waitFor()
  await getButton(page, 'Send again, or use another address').click()
  assert.equal(await page.getByLabel('Email address').inputValue(), owner.email)
  await getButton(page, 'Email me a sign-in link').click()
  await page.getByText('we sent a sign-in link').waitFor()
  await operatorPage.goto(`${app.url}/console/operator/mails?kind=sign_in`)
  await operatorPage.getByRole('link', { name: 'sign in', exact: true }).first().click()
  const link = await operatorPage
    .getByRole('main')
    .getByText(/#token=\S+$/)
    .textContent()
  await page.goto(link!)
  await waitForHeading(page, 'Metro Staffing')
  assert.ok(!page.url().includes('token'), 'the token is removed from the address')
  assert.equal(await page.getByText('Other organisation').count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Organisations' }).count(), 0)

  await getNavLink(page, 'Team').click()
  await getButton(page, 'Add member').click()
  await getDialog(page).getByLabel('Email address').fill('viewer@metro.example')
  await getDialog(page).getByLabel('Name (optional)').fill('Asha www.evil.example')
  await getDialog(page).getByLabel('Role').selectOption('recruiter')
  await checkPage(page, 'members-add')
  await getDialog(page).getByRole('button', { name: 'Add member' }).click()
  await getDialog(page).getByText('must not contain a web address').waitFor()
  await getDialog(page).getByLabel('Name (optional)').fill(' Asha Rao ')
  await getDialog(page).getByRole('button', { name: 'Add member' }).click()
  await page.getByRole('cell', { name: 'Asha Rao (viewer@metro.example)' }).waitFor()
  await page.getByText('Invitation sent to viewer@metro.example.').waitFor()
  await getButton(page, 'Resend invitation: viewer@metro.example').click()
  await until(async () => (await readInvitationLinks(app, 'viewer@metro.example')).length === 2)
  assert.equal(await page.getByRole('button', { name: /^Resend invitation: owner/ }).count(), 0, 'has signed in')
  const role = page.getByLabel('Role of viewer@metro.example')
  await role.selectOption('viewer')
  await until(async () =>
    (await owner.get(`/orgs/${orgId}/members`)).body.data.items.some((one: any) => one.role === 'viewer'),
  )
  await page.getByLabel('Role of owner@metro.example').selectOption('viewer')
  await page.getByRole('alert').waitFor() // the last owner cannot change role
  await checkPage(page, 'members')
  await getNavLink(page, 'Audit').click()
  await page.getByRole('cell', { name: 'owner@metro.example' }).first().waitFor()
  await checkPage(page, 'audit')

  assert.equal(
    (await owner.post(`/orgs/${orgId}/members`, { email: 'late@metro.example', role: 'viewer' })).status,
    201,
  )
  const viewerPage = await newPage(t)
  const [resent, replaced] = await readInvitationLinks(app, 'viewer@metro.example')
  assert.ok((await app.fetch(new URL(resent!).pathname)).status === 200, 'a link scanner does not use the link up')
  await viewerPage.goto(replaced!)
  await viewerPage.getByRole('alert').getByText('This invitation has expired, was already used').waitFor()
  await checkPage(viewerPage, 'invitation-replaced')
  await viewerPage.goto(resent!)
  await waitForHeading(viewerPage, 'Metro Staffing')
  assert.equal(viewerPage.url(), `${app.url}/console/${orgId}/test`)
  await viewerPage.goto(resent!)
  await waitForHeading(viewerPage, 'Metro Staffing') // a used link opens the organisation while the member is signed in
  await viewerPage.getByRole('link', { name: 'viewer@metro.example' }).click()
  assert.equal(await viewerPage.getByLabel('Your name').inputValue(), 'Asha Rao')
  await viewerPage.getByLabel('Your name').fill('Asha R. Rao')
  await getButton(viewerPage, 'Save name').click()
  await viewerPage.getByText('Your name was saved.').waitFor()
  await checkPage(viewerPage, 'account-name')
  assert.equal((await owner.put('/account/name', { name: 'Meera Nair' })).body.data.name, 'Meera Nair')
  await page.reload()
  await page.getByRole('cell', { name: 'Meera Nair owner@metro.example' }).first().waitFor() // in the audit log
  await getNavLink(page, 'Team').click()
  await page.getByRole('cell', { name: 'Asha R. Rao (viewer@metro.example)' }).waitFor()
  await viewerPage.goto(`${app.url}/console/${orgId}/test`)
  await waitForHeading(viewerPage, 'Metro Staffing')
  for (const hidden of ['Keys', 'Audit', 'Organisations', 'Background jobs', 'Emails'])
    assert.equal(await viewerPage.getByRole('link', { name: hidden, exact: true }).count(), 0, hidden)
  await getNavLink(viewerPage, 'Webhooks').click()
  await viewerPage.getByText('No endpoints yet').waitFor()
  assert.equal(await getButton(viewerPage, 'Add endpoint').count(), 0)
  await getNavLink(viewerPage, 'Team').click()
  await viewerPage.getByRole('cell', { name: 'owner@metro.example' }).waitFor()
  assert.equal(await getButton(viewerPage, 'Add member').count(), 0)
  await viewerPage.goto(`${app.url}/console/${orgId}/test/keys`)
  await viewerPage.getByRole('alert').waitFor()
  await viewerPage.goto(`${app.url}/console/operator/organisations`)
  await viewerPage.getByRole('navigation').waitFor({ state: 'attached' })
  assert.equal(await viewerPage.getByRole('heading', { name: 'Organisations' }).count(), 0)

  await getNavLink(page, 'Team').click()
  await getButton(page, 'Sessions of viewer@metro.example').click()
  await getButton(page, 'End session').waitFor()
  await checkPage(page, 'member-sessions')
  await page.setViewportSize({ width: 360, height: 740 })
  await checkPage(page, 'member-sessions-narrow')
  await page.setViewportSize({ width: 1280, height: 800 })
  await getButton(page, 'End all sessions').click()
  await page.getByText('This member is not signed in.').waitFor()
  await viewerPage.reload()
  await viewerPage.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
  await page.keyboard.press('Escape')
  await page
    .getByRole('row', { name: /viewer@/ })
    .getByRole('button', { name: 'Remove' })
    .click()
  await getDialog(page).getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('row', { name: /viewer@/ }).waitFor({ state: 'detached' })
  await viewerPage.reload()
  await viewerPage.getByRole('heading', { name: /Sign in to the console|No organisation/ }).waitFor()

  app.clock.advance(7 * DAY)
  const [expired] = await readInvitationLinks(app, 'late@metro.example')
  await viewerPage.goto(expired!)
  await viewerPage.getByRole('alert').getByText('This invitation has expired').waitFor()
  await viewerPage.getByLabel('Email address').waitFor()
})

/** Returns the links of the invitations to an address, newest first. */
async function readInvitationLinks({ context: { db, vault } }: TestApp, address: string): Promise<string[]> {
  const emails = await listEmails(db.queries, { kind: 'invitation', limit: 10 })
  const invitations = emails.filter(({ to_address }) => to_address === address)
  return Promise.all(
    invitations.map(async ({ mail_id }) => /\S+#token=\S+/.exec((await getEmail(db.queries, vault, mail_id)).text)![0]),
  )
}
