import { render } from 'preact'
import type { PageBrand } from '../api-types/candidate.ts'

type BrandProps = { brand: PageBrand | undefined }

/** The logo. The space for it is reserved before it is loaded. */
export function BrandLogo({ brand }: BrandProps) {
  if (!brand?.logo) return null
  const { url, width, height } = brand.logo
  return <img class="brand-logo" src={url} width={width} height={height} alt="" loading="lazy" />
}

/** The name of the organisation, or of Attestry, at the top of a page. */
export function BrandName({ brand }: BrandProps) {
  if (!brand) return <span class="wordmark">Attestry</span>
  return (
    <span class="brand-name">
      <BrandLogo brand={brand} />
      <span dir="auto">{brand.name}</span>
    </span>
  )
}

/** Replaces the name in a header that the server rendered before the organisation was known. */
export function replaceWordmark(brand: PageBrand | undefined): void {
  const wordmark = document.querySelector('.top > .wordmark')
  if (!brand || !wordmark) return
  const container = document.createElement('span')
  render(<BrandName brand={brand} />, container)
  wordmark.replaceWith(...container.childNodes)
}

/** The footer line and the website of the organisation. */
export function BrandFooter({ brand }: BrandProps) {
  if (!brand?.footer && !brand?.homepage) return null
  return (
    <div class="brand-footer after-content small soft">
      {brand.footer && <p dir="auto">{brand.footer}</p>}
      {brand.homepage && (
        <a href={brand.homepage} rel="noopener noreferrer nofollow">
          {new URL(brand.homepage).host.replace(/^www\./, '')}
        </a>
      )}
    </div>
  )
}
