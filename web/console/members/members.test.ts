import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPage } from '../../../test/browser/browser.ts'
import { button, consolePage, dialog, heading, look, nav } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'

test('a person comes in by mail; what their role may not do is not there', async (t) => {
  const app = await startApp(t, { worker: true })
  keepTime(t, app.clock)
  const { orgId } = await app.given.org('Metro Staffing')
  await app.given.org('Somebody else')
  const owner = await memberOf(app, orgId, 'owner', 'owner@metro.example')
  const operator = await consolePage(t, app)
  const page = await newPage(t)

  await page.goto(`${app.url}/console`)
  await page.getByLabel('Your mail address').fill(owner.email!)
  await button(page, 'Mail me a link').click()
  await page.getByText('a link is on its way').waitFor()
  await operator.goto(`${app.url}/console/operator/mails?kind=sign_in`)
  await operator.getByRole('link', { name: 'sign in', exact: true }).click()
  const link = await operator.getByRole('link', { name: /#token=/ }).getAttribute('href')
  await page.goto(link!)
  await heading(page, 'Metro Staffing')
  assert.ok(!page.url().includes('token'), 'the link does not stay in the address')
  assert.equal(await page.getByText('Somebody else').count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Organisations' }).count(), 0)

  await nav(page, 'People').click()
  await button(page, 'Add a person').click()
  await dialog(page).getByLabel('Mail address').fill('viewer@metro.example')
  await dialog(page).getByLabel('Role').selectOption('recruiter')
  await look(page, 'members-add')
  await button(page, 'Add').click()
  const role = page.getByLabel('Role of viewer@metro.example')
  await role.selectOption('viewer')
  await until(async () =>
    (await owner.get(`/orgs/${orgId}/members`)).body.data.items.some((one: any) => one.role === 'viewer'),
  )
  await page.getByLabel('Role of owner@metro.example').selectOption('viewer')
  await page.getByRole('alert').waitFor() // the last owner cannot step down
  await look(page, 'members')
  await nav(page, 'Audit').click()
  await page.getByRole('cell', { name: 'owner@metro.example' }).first().waitFor()
  await look(page, 'audit')

  const reader = await consolePage(t, app, { email: 'viewer@metro.example' })
  await heading(reader, 'Metro Staffing')
  for (const hidden of ['Keys', 'Audit', 'Organisations', 'Jobs', 'Mails'])
    assert.equal(await reader.getByRole('link', { name: hidden, exact: true }).count(), 0, hidden)
  await nav(reader, 'Webhooks').click()
  await reader.getByText('No endpoint yet').waitFor()
  assert.equal(await button(reader, 'Add an endpoint').count(), 0)
  await nav(reader, 'People').click()
  await reader.getByRole('cell', { name: 'owner@metro.example' }).waitFor()
  assert.equal(await button(reader, 'Add a person').count(), 0)
  await reader.goto(`${app.url}/console/${orgId}/test/keys`)
  await reader.getByRole('alert').waitFor()
  await reader.goto(`${app.url}/console/operator/organisations`)
  await reader.getByRole('navigation').waitFor({ state: 'attached' })
  assert.equal(await reader.getByRole('heading', { name: 'Organisations' }).count(), 0)

  await nav(page, 'People').click()
  await page
    .getByRole('row', { name: /viewer@/ })
    .getByRole('button', { name: 'Remove' })
    .click()
  await dialog(page).getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('row', { name: /viewer@/ }).waitFor({ state: 'detached' })
  await reader.reload()
  await reader.getByRole('heading', { name: /Sign in to the console|No organisation/ }).waitFor()
})
