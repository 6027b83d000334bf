import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/**
 * Saves a screenshot for review and for the docs in the folder of the environment variable SCREENSHOTS; does nothing if it is
 * not set.
 */
export async function saveScreenshot(page: Page, name: string, fullPage = true): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage })
}
