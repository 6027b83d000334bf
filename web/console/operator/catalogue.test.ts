import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importTaxonomy } from '../../../server/catalogue/import/import.ts'
import type { Taxonomy } from '../../../server/catalogue/taxonomy.ts'
import {
  checkPage,
  getButton,
  getDialog,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { signIn } from '../../../test/support/console.ts'
import { createPartner } from '../../../test/support/partners.ts'

test('an operator finds a skill, renames it and changes its aliases, and decides skill requests', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  await importTaxonomy(context.db, clock, {
    source: 'esco',
    masters: [{ id: 'm', name: 'Crafts' }],
    subSkills: [{ id: 's', name: 'Wall building', master: 'm' }],
    rejected: [],
    skills: [
      {
        id: 'http://data.europa.eu/esco/skill/8f18f987-33e2-4228-9efb-65de25d03330',
        name: 'lay bricks by hand',
        description: 'Lay bricks.',
        aliases: ['bricks by hand'],
        subSkill: 's',
        verifiable: false,
        location: 'file:2',
      },
    ],
  })
  await context.catalogue.refresh()
  const { get, post } = await createPartner(app)
  const page = await openConsolePage(t, app)
  await getNavLink(page, 'Skills').click()
  await page.getByRole('link', { name: 'Browse and edit the catalogue' }).click()
  await waitForHeading(page, 'Catalogue')
  await page.getByText(/^50 of [\d,]+ skills$/).waitFor()
  await checkPage(page, 'operator-catalogue')
  await page.getByLabel('Search', { exact: true }).fill('bricks by hand')
  await page.getByLabel('Source').selectOption('esco')
  const link = page.getByRole('link', { name: 'lay bricks by hand' })
  await page.getByRole('columnheader', { name: 'Category', exact: true }).waitFor()
  await link.waitFor()
  await page.getByText('1 skill', { exact: true }).waitFor()
  await link.click()
  await waitForHeading(page, /lay bricks by hand/)
  await page
    .getByRole('term')
    .filter({ hasText: /^Category$/ })
    .waitFor()
  await page.getByText('No: there are too few questions about it, and no AI writer is configured.').waitFor()
  await page.getByText('0 jobs, 0 verifications, 0 selections in the public catalogue').waitFor()
  await checkPage(page, 'operator-catalogue-skill')

  await page.getByLabel('Name', { exact: true }).fill('Hand bricklaying')
  await getButton(page, 'Rename').click()
  await page.getByText('Renamed to “Hand bricklaying”. “lay bricks by hand” is an alias now.').waitFor()
  await page.getByLabel('New alias').fill('Bricklaying')
  await getButton(page, 'Add alias').click()
  await page.getByText('"Bricklaying" is already the name of sk_1001; choose another name.').waitFor()
  await checkPage(page, 'operator-catalogue-skill-error')
  await page.getByLabel('New alias').fill('eent chinai')
  await getButton(page, 'Add alias').click()
  await page.getByText('Added the alias “eent chinai”.').waitFor()
  assert.equal(await page.getByLabel('New alias').inputValue(), '')
  await getButton(page, 'Remove the alias bricks by hand').click()
  await page.getByText('Removed the alias “bricks by hand”.').waitFor()
  await page.getByLabel('Often required: rank it higher in searches').click()
  await page.getByText('The skill ranks higher in searches.').waitFor()
  const skillId = page.url().split('/').at(-1)!
  const other = await signIn(app)
  const { revision } = (await other.get(`/operator/catalogue/skills/${skillId}`)).body.data
  await other.call('PATCH', `/operator/catalogue/skills/${skillId}`, { revision, add_aliases: ['brick raising'] })
  await page.getByLabel('Allow verification with the questions of this server').click()
  await page.getByText(/has been changed in the meantime/).waitFor()
  await getButton(page, 'Load the skill again').click()
  await getButton(page, 'Remove the alias brick raising').waitFor()
  assert.ok(await page.getByLabel('Allow verification with the questions of this server').isChecked())

  const found = (await get('/skills/search?q=hand%20bricklaying')).body.data.items[0]
  assert.equal(found.name, 'Hand bricklaying')

  await page.goto(`${app.url}/console/operator/skills/catalogue/sk_1001`)
  await page.getByRole('link', { name: 'Construction and masonry' }).click()
  await page.getByRole('button', { name: 'Remove the filter Construction and masonry' }).waitFor()
  await page.getByLabel('Level').selectOption('sub_skill')
  await page.getByLabel('Search', { exact: true }).fill('block masonry')
  await page.getByText('1 sub-skill', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Brick and block masonry' }).click()
  await page.getByRole('button', { name: 'Remove the filter Brick and block masonry' }).waitFor()
  await page.getByRole('link', { name: 'Bricklaying', exact: true }).waitFor()

  await post('/skill-requests', { name: 'Laying of bricks' })
  await post('/skill-requests', { name: 'Being nice' })
  await page.goto(`${app.url}/console/operator/skills`)
  await getButton(page, 'Approve Laying of bricks').click()
  const sameAs = getDialog(page).getByRole('button', { name: 'Same as Bricklaying' })
  await sameAs.waitFor()
  await checkPage(page, 'operator-skill-same-as')
  await sameAs.click()
  await page.getByText('Approved: “Laying of bricks” means Bricklaying (sk_1001).').waitFor()
  await getButton(page, 'Reject Being nice').click()
  await getDialog(page).getByLabel('Reason (optional)').fill('This is not a skill that can be shown.')
  await checkPage(page, 'operator-skill-reject')
  await getDialog(page).getByRole('button', { name: 'Reject' }).click()
  await page.getByText('No skill requests.').waitFor()
  const { items } = (await get('/skill-requests')).body.data
  assert.equal(items[0].rejection_reason, 'This is not a skill that can be shown.')
})

test('an operator merges a skill into another one after seeing the effects, and undoes it', async (t) => {
  const app = await startApp(t)
  const { get } = await createPartner(app)
  const page = await openConsolePage(t, app)
  const nameOf = async (id: string) => (await get(`/skills/${id}`)).body.data.skill_id
  await page.goto(`${app.url}/console/operator/skills/catalogue/sk_1002`)
  await getButton(page, 'Merge into another skill…').click()
  const dialog = getDialog(page)
  await dialog.getByRole('combobox', { name: 'Skill that survives' }).fill('sk_1001')
  await dialog.getByRole('option', { name: /sk_1001/ }).click()
  await dialog.getByText(/^sk_1002 stays valid and means Bricklaying\.$/).waitFor()
  await checkPage(page, 'operator-merge-skill')
  assert.equal(await nameOf('sk_1002'), 'sk_1002')
  await dialog.getByRole('button', { name: 'Merge skills' }).click()
  await waitForHeading(page, /^Bricklaying/)
  const undo = page.getByRole('button', { name: /^Undo the merge of / })
  await undo.waitFor()
  await checkPage(page, 'operator-merged-skill')
  assert.equal(await nameOf('sk_1002'), 'sk_1001')

  await page.goto(`${app.url}/console/operator/skills/catalogue/sk_1002`)
  await page.getByText(/This skill has been merged into/).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Bricklaying', exact: true }).count(), 1)
  await getButton(page, 'Undo the merge').click()
  await page.getByText(/is a skill of its own again/).waitFor()
  await getButton(page, 'Merge into another skill…').waitFor()
  assert.equal(await nameOf('sk_1002'), 'sk_1002')
})

test('an operator undoes an import after seeing the effects', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { post } = await createPartner(app)
  const taxonomy = (names: string[]): Taxonomy => ({
    source: 'esco',
    masters: [{ id: 'm', name: 'Crafts' }],
    subSkills: [{ id: 's', name: 'Paper craft', master: 'm' }],
    rejected: [],
    skills: names.map((name, index) => {
      const id = `u:${index}`
      return { id, name, description: '', aliases: [], subSkill: 's', verifiable: false, location: 'file:2' }
    }),
  })
  const importAs = async (fileName: string, names: string[]) => {
    clock.advance(1000)
    await importTaxonomy(context.db, clock, taxonomy(names), { fileName, startedBy: 'cli:asha@server' })
  }
  await importAs('esco-1', ['lay bricks by hand'])
  await importAs('esco-2', ['raise walls by hand', 'fold paper kites'])
  await context.catalogue.refresh()
  const find = async (name: string) => (await post('/skills/lookup', { names: [name] })).body.data.found[0]?.skill_id
  const kites = await find('fold paper kites')
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/skills`)
  await page.getByText('cli:asha@server').first().waitFor()
  assert.equal(await page.getByRole('button', { name: /^Undo the import of / }).count(), 1)
  await getButton(page, 'Undo the import of esco-2').click()
  const dialog = getDialog(page)
  await dialog.getByText('Added skills that can no longer be found by search: 1. Their IDs stay valid.').waitFor()
  await dialog.getByText(/raise walls by hand → lay bricks by hand/).waitFor()
  await checkPage(page, 'operator-undo-import')
  assert.ok(await find('raise walls by hand'))
  await dialog.getByRole('button', { name: 'Undo the import', exact: true }).click()
  await page.getByText('Undid the import of esco-2.').waitFor()
  await getButton(page, 'Undo the import of esco-1').waitFor()
  await page.getByText('undone', { exact: true }).waitFor()
  await checkPage(page, 'operator-undone-import')
  assert.deepEqual([await find('raise walls by hand'), await find('fold paper kites')], [undefined, undefined])
  assert.ok(await find('lay bricks by hand'))
  await page.goto(`${app.url}/console/operator/skills/catalogue/${kites}`)
  await page.getByText('The import that had added this skill was undone. The skill is found by its ID only.').waitFor()
  assert.equal(await getButton(page, 'Rename').count(), 0)
})

test('the pages of the catalogue work on a phone in dark mode', async (t) => {
  const app = await startApp(t)
  const page = await openConsolePage(t, app, {
    width: 360,
    height: 780,
    hasTouch: true,
    isMobile: true,
    colorScheme: 'dark',
  })
  await page.goto(`${app.url}/console/operator/skills/catalogue`)
  await page.getByRole('link', { name: 'Bricklaying', exact: true }).waitFor()
  await checkPage(page, 'phone-operator-catalogue')
  await page.getByRole('link', { name: 'Bricklaying', exact: true }).click()
  await waitForHeading(page, /Bricklaying/)
  await checkPage(page, 'phone-operator-catalogue-skill')
  await (await createPartner(app)).post('/skill-requests', { name: 'Laying of bricks' })
  await page.goto(`${app.url}/console/operator/skills`)
  await getButton(page, 'Approve Laying of bricks').click()
  await getDialog(page).getByRole('button', { name: 'Same as Bricklaying' }).waitFor()
  await checkPage(page, 'phone-operator-skill-same-as')
})
