import type { Config } from '../config.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { type Brand, fitLogo, PAGE_LOGO_HEIGHT, PAGE_LOGO_WIDTH } from './branding.ts'
import type { BrandColours } from './colour.ts'

/** Text of the preview that messengers show for a link. It must not contain names of people: a link can be forwarded. */
interface LinkPreview {
  title: string
  description: string
}

/** Parts of a page with the look of an organisation. */
interface BrandedParts {
  head: string
  style: string
  /** Path of the icon in the tab of the browser. */
  icon?: string
}

/** Returns the preview of the link, the colours and the icon. Without a brand, the page has none of them. */
export function brandedParts(
  { publicUrl }: Pick<Config, 'publicUrl'>,
  brand: Omit<Brand, 'replyTo'> | undefined,
  preview: LinkPreview,
): BrandedParts {
  if (!brand) return { head: '', style: '' }
  return { head: renderPreviewTags(publicUrl, brand, preview), ...brandedLook(brand) }
}

/** Returns the colours and the icon, for pages with a preview of their own. */
export function brandedLook(brand: Pick<Brand, 'colours' | 'logo'> | undefined): Omit<BrandedParts, 'head'> {
  return {
    style: brand?.colours ? colourVariables(brand.colours) : '',
    ...(brand?.logo ? { icon: brand.logo.url } : {}),
  }
}

function renderPreviewTags(
  publicUrl: string | undefined,
  { name, logo }: Omit<Brand, 'replyTo'>,
  preview: LinkPreview,
): string {
  const properties: [string, string][] = [
    ['og:type', 'website'],
    ['og:site_name', name],
    ['og:title', preview.title],
    ['og:description', preview.description],
    ...(logo && publicUrl !== undefined
      ? ([
          ['og:image', publicUrl + logo.url],
          ['og:image:alt', name],
        ] as [string, string][])
      : []),
  ]
  return properties.map(([key, value]) => `<meta property="${key}" content="${escapeHtml(value)}">`).join('')
}

/** Returns the rule that sets the colours of `web/ui/base.css`; `applyBrand` in `web/branding/` sets the same variables. */
function colourVariables({ light, lightTint, dark, darkText, darkTint }: BrandColours): string {
  return `:root{--own:${light};--own-tint:${lightTint};--own-dark:${dark};--own-dark-ink:${darkText};--own-dark-tint:${darkTint}}`
}

const PLAIN_STYLE = `.brand{display:flex;align-items:center;gap:12px;max-width:46rem;margin:0 auto 20px;font-weight:600}
.brand img{display:block;border-radius:4px;background:#fff}
.brand-footer{max-width:46rem;margin:32px auto 0;font-size:.85em}.brand-footer p{margin:0}`

/** Returns the parts of a plain page (`web-assets/plain-page.ts`) with the look of an organisation. */
export function plainBrandParts(brand: (Pick<Brand, 'name'> & Partial<Brand>) | undefined) {
  if (!brand) return {}
  const { name, footer, homepage, colours } = brand
  const logo = brand.logo && fitLogo(brand.logo, PAGE_LOGO_WIDTH, PAGE_LOGO_HEIGHT)
  return {
    head: logo ? `<link rel="icon" href="${escapeHtml(logo.url)}">\n` : '',
    ownStyle: colours ? PLAIN_STYLE + plainColours(colours) : PLAIN_STYLE,
    beforeMain: `<header class="brand">${logo ? `<img src="${escapeHtml(logo.url)}" width="${logo.width}" height="${logo.height}" alt="">` : ''}<span dir="auto">${escapeHtml(name)}</span></header>\n`,
    afterMain:
      footer || homepage
        ? `<footer class="brand-footer">${footer ? `<p dir="auto">${escapeHtml(footer)}</p>` : ''}${homepage ? `<p><a href="${escapeHtml(homepage)}" rel="noopener nofollow">${escapeHtml(hostOf(homepage))}</a></p>` : ''}</footer>\n`
        : '',
  }
}

function plainColours({ light, lightText, dark, darkText }: BrandColours): string {
  return `a{color:${light}}button{background:${light};color:${lightText}}.verdict{border-color:${light}}
@media (prefers-color-scheme:dark){a{color:${dark}}button{background:${dark};color:${darkText}}.verdict{border-color:${dark}}}`
}

/** Returns the host of a website, without `www.`, as the text of a link. */
export function hostOf(url: string): string {
  return new URL(url).host.replace(/^www\./, '')
}
