import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestApp } from '../support/app.ts'
import { signInLink } from '../support/console.ts'
import { until } from '../support/until.ts'
import { assertAccessible } from './axe.ts'
import { newPage, type PageOptions } from './browser.ts'
import { shot } from './screenshots.ts'

/** A page of the console in which the operator, or with a mail address a person, is signed in. */
export async function consolePage(
  t: TestContext,
  app: TestApp,
  { email = null, ...options }: PageOptions & { email?: string | null } = {},
): Promise<Page> {
  const page = await newPage(t, options)
  await page.goto(await signInLink(app, email))
  await page.locator('nav').waitFor({ state: 'attached' })
  return page
}

/** Nothing serious for axe, nothing that sticks out; and a picture for people. */
export async function look(page: Page, name: string): Promise<void> {
  await until(async () => (await page.locator('[aria-busy="true"], .waiting').count()) === 0)
  await page.evaluate('scrollTo(0, 0)') // what sticks to the window would stand in the middle of a long picture
  await shot(page, name)
  await assertAccessible(page)
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name}: nothing sticks out`)
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor()
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const dialog = (page: Page) => page.getByRole('dialog')
export const nav = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true })
