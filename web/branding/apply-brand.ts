import type { PageBrand } from '../api-types/candidate.ts'

/** Returns the brand that the server has embedded in the page. */
export function embeddedBrand(): PageBrand | undefined {
  const element = document.getElementById('brand')
  return element ? (JSON.parse(element.textContent!) as PageBrand) : undefined
}

/** Sets the colours and the icon of a page whose organisation is known only after it has loaded its data. */
export function applyBrand(brand: PageBrand | undefined): void {
  if (!brand) return
  const { colours, logo } = brand
  if (colours) {
    const { style } = document.documentElement
    style.setProperty('--own', colours.light)
    style.setProperty('--own-tint', colours.lightTint)
    style.setProperty('--own-dark', colours.dark)
    style.setProperty('--own-dark-ink', colours.darkText)
    style.setProperty('--own-dark-tint', colours.darkTint)
  }
  if (logo) document.querySelector<HTMLLinkElement>('link[rel=icon]')?.setAttribute('href', logo.url)
}
