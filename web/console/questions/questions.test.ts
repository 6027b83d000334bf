import { test } from 'node:test'
import { updateItemStatistics } from '../../../server/items/statistics-job.ts'
import { loadBank } from '../../../server/questions/bank/bank.ts'
import { checkPage, getButton, getDialog, getNavLink, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { insertOwnItems, insertResponses } from '../../../test/support/item-responses.ts'

const SKILL = 2001

/** Stores responses to the questions of a skill: one is miskeyed, and one has no responses. */
async function storeResponses(app: TestApp, orgId: string): Promise<string[]> {
  const ids = (await loadBank()).itemsOf(SKILL).map(({ id }) => id)
  for (const [index, itemId] of ids.slice(0, 8).entries()) {
    const pattern = index === 1 ? 'miskeyed' : 'good'
    await insertResponses(app, { orgId, itemId, skillNumber: SKILL, count: 180, pattern, day: '2026-02-20' })
    await insertResponses(app, { orgId, itemId, skillNumber: SKILL, count: 60, pattern, language: 'hi' })
  }
  await updateItemStatistics(app.context)
  return ids
}

test('statistics are shown per skill and per question, and an operator restores a retired question', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const ids = await storeResponses(app, orgId)
  await insertOwnItems(app, { orgId, skillNumber: SKILL, ids: ['IT_OWN1', 'IT_OWN2'] })
  const skillName = app.context.catalogue.current.skill(SKILL)!.name
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/live`)
  await getNavLink(page, 'Questions').click()
  await page.getByRole('heading', { level: 1, name: 'Questions' }).waitFor()
  await page.getByRole('searchbox', { name: 'Skill' }).fill(skillName)
  await page.keyboard.press('Enter')
  await page.getByRole('cell', { name: 'Your own questions' }).waitFor()
  await checkPage(page, 'questions')
  await page.getByRole('link', { name: skillName }).last().click()
  await page.getByText('key may be wrong').waitFor()
  await checkPage(page, 'questions-skill')

  await page.goto(`${app.url}/console/${orgId}/live/questions/sk_${SKILL}/${ids[0]}`)
  await page.getByRole('img', { name: /^Correct by ability/ }).waitFor()
  await page.getByRole('img', { name: /^Correct over time/ }).waitFor()
  await page.getByRole('cell', { name: 'Hindi' }).waitFor()
  await checkPage(page, 'question')
  await page.getByRole('main').getByRole('combobox', { name: 'Language' }).selectOption('hi')
  await page.locator('p[lang="hi"]').waitFor()

  await page.goto(`${app.url}/console/${orgId}/live/questions/sk_${SKILL}/${ids[1]}`)
  await page.getByText('the key may be wrong').waitFor()
  await checkPage(page, 'question-retired')
  await getButton(page, 'Restore').click()
  await getDialog(page).getByRole('button', { name: 'Restore' }).click()
  await getButton(page, 'Retire').waitFor()

  await page.goto(`${app.url}/console/${orgId}/live/questions/sk_${SKILL}/${ids.at(-1)}`)
  await page.getByText('No LIVE responses yet').waitFor()
  await checkPage(page, 'question-without-responses')
})

test('on a phone, members see the numbers of their own questions, but only owners see the text', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  await insertOwnItems(app, { orgId, skillNumber: SKILL, ids: ['IT_OWN1'] })
  await insertResponses(app, { orgId, itemId: 'IT_OWN1', skillNumber: SKILL, source: 'private', count: 50 })
  const ids = await storeResponses(app, orgId)
  const skillPath = `${app.url}/console/${orgId}/live/questions/sk_${SKILL}`
  for (const role of ['owner', 'viewer'] as const) {
    const { email } = await signInMember(app, orgId, role)
    const colorScheme = role === 'owner' ? 'dark' : 'light'
    const page = await openConsolePage(t, app, { email, width: 320, height: 700, colorScheme })
    await page.goto(`${skillPath}/IT_OWN1`)
    await page
      .getByText(role === 'owner' ? 'Private stem IT_OWN1?' : 'Only owners of the organisation can see the text')
      .waitFor()
    await checkPage(page, `phone-question-${role}`)
    for (const [name, path] of [
      ['skill', skillPath],
      ['bank', `${skillPath}/${ids[0]}`],
      ['list', `${app.url}/console/${orgId}/live/questions`],
    ] as const) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await checkPage(page, `phone-question-${name}-${role}`)
    }
  }
})
