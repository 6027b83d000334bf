import { test } from 'node:test'
import { openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'

test('the edit page of a workflow created through the API explains why it is read-only, and links back', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const { workflow_id } = await app.fixtures.createWorkflow({ orgId, mode: 'test' })
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/workflows/${workflow_id}/edit`)
  await waitForHeading(page, 'Edit workflow')
  await page.getByText('was created through the API').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Site hiring' }).click()
  await waitForHeading(page, /Site hiring/)
})
