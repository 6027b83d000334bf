import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { pictures } from './pictures.ts'
import type { SampleData } from './sample-data.ts'
import { openPicture, signIn } from './take-screenshots.ts'

const DESKTOP = { width: 1120, height: 700, scale: 1.25 }
const PHONE = { width: 360, height: 700, scale: 1.5 }
const WEBP_QUALITY = 0.75

/** The pictures in the README and on the front page, by the names of their files. */
const documentationPictures = {
  campaign: { picture: 'console-campaigns-one', ...DESKTOP },
  'campaign-phone': { picture: 'console-campaigns-one', ...PHONE },
  result: { picture: 'console-candidates-one', ...DESKTOP },
  'result-phone': { picture: 'console-results-one', ...PHONE },
  mandate: { picture: 'console-mandates-one', ...DESKTOP },
  candidate: { picture: 'candidate-hindi', ...PHONE },
  student: { picture: 'student-method', ...PHONE },
  reviewer: { picture: 'reviewer', ...PHONE },
}

/** Saves the pictures as WebP files, each in light and dark colours. */
export async function saveDocumentationPictures(browser: Browser, data: SampleData, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [file, { picture: name, width, height, scale }] of Object.entries(documentationPictures)) {
    const picture = pictures.find((each) => each.name === name)!
    const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale })
    await context.clock.setSystemTime(data.app.clock.now())
    if (picture.signedIn) await signIn(await context.newPage(), data, picture.signedIn)
    const page = await context.newPage()
    const encoder = await context.newPage()
    await openPicture(page, picture, data)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const png = await page.screenshot({ animations: 'disabled' })
      await writeFile(join(folder, `${file}-${colorScheme}.webp`), await encodeWebp(encoder, png))
    }
    await context.close()
  }
}

/** Converts a PNG file with the encoder of Chromium. */
async function encodeWebp(page: Page, png: Buffer): Promise<Buffer> {
  const url = (await page.evaluate(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png.toString('base64')}'
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', ${WEBP_QUALITY})
  })()`)) as string
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}
