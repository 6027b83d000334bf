import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { assertAccessible } from './axe.ts'
import { saveScreenshot } from './screenshots.ts'

/** Checks that the page is accessible and does not scroll sideways on a phone and on a desktop, in light and dark mode. */
export async function checkSizes(page: Page, name: string): Promise<void> {
  const viewport = page.viewportSize()!
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await saveScreenshot(page, `${name}-${width}-${colorScheme}`)
      await assertAccessible(page)
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name} does not overflow`)
    }
  }
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme: 'light' })
}
