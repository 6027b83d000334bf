import type { Brand } from '../../branding/branding.ts'
import { hostOf } from '../../branding/page-parts.ts'
import { pageBrand } from '../../branding/schema.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import { jsonBlock } from '../../web-assets/assets.ts'
import type { PublicCredential } from '../credentials.ts'
import { type CredentialDetails, readDetails, type SignedText } from './credential-details.ts'
import { credentialState } from './credential-state.ts'
import { qrCodeSvg } from './qr-code.ts'
import { formatDate, pickTexts, type Translate, translator } from './texts.ts'

/** The checks of the page's script, in their order. */
const CHECK_STEPS = ['content', 'issuer', 'key', 'signature', 'validity', 'status'] as const
/** Texts that the script of the page shows. */
const SCRIPT_TEXTS = ['check_', ...CHECK_STEPS.map((step) => `${step}_`), 'domain_', 'clock_', 'offline', 'not_checked']
const FORM_TEXTS = ['holder_yes', 'holder_no', 'failed', 'rate_limited', 'copied']

interface RenderedPage {
  head: string
  body: string
}

/**
 * Renders the page of a credential, complete without a script. The script then checks the credential: it compares every element with
 * `data-signed`, a JSON Pointer, with the signed JSON.
 */
export async function renderCredentialPage(
  credential: PublicCredential,
  { url, language, now, brand }: { url: string; language: Language; now: number; brand?: Brand | undefined },
): Promise<RenderedPage> {
  const t = translator(language)
  const state = credentialState(credential, now)
  const { skill, issuer, ...details } = readDetails(credential.credential)
  const title = `${skill} · ${issuer}`
  const body = `
<div class="sheet">
${renderTop(t, language, brand)}
<main class="stack" id="page">
${credential.mode === 'test' ? `<p class="notice">${escapeHtml(t('test_banner'))}</p>` : ''}
${renderStateBanner(credential, state, t, language)}
<article class="certificate ${state}">
<p class="kind">${SEAL}${escapeHtml(t(state === 'valid' ? 'verified_skill' : `state_${state}`))}</p>
<h1 dir="auto" data-signed="/credentialSubject/achievement/name">${escapeHtml(skill)}</h1>
${details.description ? `<p class="soft about" dir="auto">${signed({ text: details.description, pointer: '/credentialSubject/achievement/description' })}</p>` : ''}
<dl class="facts">
${details.holderName ? renderFact(t('issued_to'), signed(details.holderName)) : ''}
${renderFact(t('issued_by'), signed({ text: issuer, pointer: '/issuer/name' }))}
${renderFact(t('issued_on'), renderTime(details.validFrom, '/validFrom', language))}
${details.validUntil ? renderFact(t('valid_until'), renderTime(details.validUntil, '/validUntil', language)) : ''}
</dl>
</article>
<section class="card stack-tight" id="check" aria-labelledby="check-title" aria-live="polite">
<h2 id="check-title">${escapeHtml(t('check_title'))}</h2>
<p class="verdict" hidden></p>
<ol class="steps" hidden>${CHECK_STEPS.map((step) => `<li data-step="${step}"><strong>${escapeHtml(t(`step_${step}`))}</strong><span></span></li>`).join('')}</ol>
<noscript><p>${escapeHtml(t('check_no_script'))}</p></noscript>
</section>
<section class="card stack-tight">
<h2>${escapeHtml(t('evidence_title'))}</h2>
${details.evidence.map((entry) => `<p lang="en">${signed(entry)}</p>`).join('')}
${details.criteria ? `<p class="soft" lang="en">${signed({ text: details.criteria, pointer: '/credentialSubject/achievement/criteria/narrative' })}</p>` : ''}
${
  details.results.length > 0
    ? `<h3>${escapeHtml(t('results_title'))}</h3><dl class="results" lang="en">${details.results.map(({ name, value, unit }) => `<div><dt>${signed(name)}</dt><dd>${signed(value)}${escapeHtml(unit)}</dd></div>`).join('')}</dl>`
    : ''
}
${renderAlignments(details.alignments, url, t)}
</section>
${state === 'valid' ? renderMeaning(t, credential.organisation.name) : ''}
${renderHolderForm(t)}
${state === 'valid' ? await renderShare(credential, skill, issuer, url, t, language) : ''}
<p class="small soft">${escapeHtml(t('credential_id'))}: <code>${escapeHtml(credential.id)}</code></p>
</main>
${renderFooter(t, brand)}
</div>
${jsonBlock('credential', { id: credential.id, jwt: credential.jwt, texts: pickTexts(language, [...SCRIPT_TEXTS, ...FORM_TEXTS]) })}`
  return {
    head: renderHead(
      title,
      `${t('verified_skill')}: ${skill}. ${t('issued_by')} ${issuer}.`,
      url,
      `${url}.preview.png`,
    ),
    body,
  }
}

/** Renders a page with a title and a text, for addresses without a credential or profile. */
export function renderMessagePage(title: string, text: string, language: Language): RenderedPage {
  const t = translator(language)
  return {
    head: `<title>${escapeHtml(title)} · Attestry</title>`,
    body: `
<div class="sheet">
${renderTop(t, language)}
<main class="stack"><section class="card stack-tight"><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></section></main>
${renderFooter(t)}
</div>`,
  }
}

/** Renders the title and the Open Graph properties, which messengers and social networks show with a link. */
export function renderHead(title: string, description: string, url: string, picture?: string): string {
  const properties: [string, string][] = [
    ['og:type', 'website'],
    ['og:title', title],
    ['og:description', description],
    ['og:url', url],
    ...(picture
      ? ([
          ['og:image', picture],
          ['og:image:width', '1200'],
          ['og:image:height', '630'],
          ['og:image:alt', title],
          ['twitter:card', 'summary_large_image'],
        ] as [string, string][])
      : []),
  ]
  const tags = properties.map(([name, content]) => `<meta property="${name}" content="${escapeHtml(content)}">`)
  return `<title>${escapeHtml(title)} · Attestry</title><meta name="description" content="${escapeHtml(description)}">${tags.join('')}`
}

/** Renders the header with the choice of language, which works without a script too. */
export function renderTop(t: Translate, language: Language, brand?: Brand): string {
  const options = LANGUAGES.map(
    (code) =>
      `<option value="${code}" lang="${code}"${code === language ? ' selected' : ''}>${escapeHtml(prompt('language_name', code))}</option>`,
  )
  return `<header class="top">${renderName(brand)}
<form class="row" method="get" id="language"><select name="lang" aria-label="${escapeHtml(t('language'))}">${options.join('')}</select><noscript><button>OK</button></noscript></form></header>`
}

/** Renders the link to the check of other credentials, and the footer of the issuer. */
export function renderFooter(t: Translate, brand?: Brand): string {
  const own = [
    brand?.footer ? `<p dir="auto">${escapeHtml(brand.footer)}</p>` : '',
    brand?.homepage
      ? `<p><a href="${escapeHtml(brand.homepage)}" rel="noopener nofollow">${escapeHtml(hostOf(brand.homepage))}</a></p>`
      : '',
  ].join('')
  return `<footer class="small"><a href="/credentials/verify">${escapeHtml(t('check_another'))}</a>${own ? `<div class="brand-footer soft">${own}</div>` : ''}</footer>`
}

/** Renders the name of the issuer with its logo, or that of Attestry. The colours stay, because they show the outcome of the check. */
function renderName(brand: Brand | undefined): string {
  if (!brand) return '<span class="wordmark">Attestry</span>'
  const { logo, name } = pageBrand(brand)
  const image = logo
    ? `<img class="brand-logo" src="${escapeHtml(logo.url)}" width="${logo.width}" height="${logo.height}" alt="">`
    : ''
  return `<span class="brand-name">${image}<span dir="auto">${escapeHtml(name)}</span></span>`
}

const SEAL =
  '<svg class="seal" aria-hidden="true" viewBox="0 0 24 24"><circle cx="12" cy="12" r="11"/><path d="M7 12.4l3.4 3.4L17.2 9"/></svg>'

function renderStateBanner(
  { revokedAt, validUntil }: PublicCredential,
  state: 'valid' | 'revoked' | 'expired',
  t: Translate,
  language: Language,
): string {
  if (state === 'valid') return ''
  const date = state === 'revoked' ? revokedAt! : validUntil
  const text = t(`${state}_banner`, { date: formatDate(date, language) })
  return `<p class="notice ${state === 'revoked' ? 'bad' : ''}"><strong>${escapeHtml(text)}</strong></p>`
}

function renderFact(name: string, valueHtml: string): string {
  return `<div><dt>${escapeHtml(name)}</dt><dd dir="auto">${valueHtml}</dd></div>`
}

function signed({ text, pointer }: SignedText): string {
  return `<span data-signed="${escapeHtml(pointer)}">${escapeHtml(text)}</span>`
}

function renderTime(date: Date, pointer: string, language: Language): string {
  return `<time datetime="${date.toISOString()}" data-signed="${pointer}">${escapeHtml(formatDate(date, language))}</time>`
}

/** Renders links to the skill in other catalogues. That of this server returns JSON, which is of no use to a visitor. */
function renderAlignments(alignments: CredentialDetails['alignments'], pageUrl: string, t: Translate): string {
  const { origin } = new URL(pageUrl)
  const links = alignments.filter(({ url }) => /^https?:\/\//.test(url) && !url.startsWith(`${origin}/`))
  if (links.length === 0) return ''
  const entries = links.map(
    ({ name, framework, url }) =>
      `<li>${framework ? `${escapeHtml(framework)}: ` : ''}<a href="${escapeHtml(url)}" rel="noopener nofollow">${signed(name)}</a></li>`,
  )
  return `<h3>${escapeHtml(t('related_title'))}</h3><ul>${entries.join('')}</ul>`
}

function renderMeaning(t: Translate, organisation: string): string {
  const list = (key: string) =>
    [1, 2, 3].map((number) => `<li>${escapeHtml(t(`${key}_${number}`, { organisation }))}</li>`).join('')
  return `<section class="card meaning">
<div><h2>${escapeHtml(t('proves_title'))}</h2><ul class="proves">${list('proves')}</ul></div>
<div><h2>${escapeHtml(t('not_proves_title'))}</h2><ul class="not">${list('not_proves')}</ul></div>
</section>`
}

/** Renders the form that checks the holder's address. It is hidden until the script runs, because it calls the API. */
function renderHolderForm(t: Translate): string {
  return `<section class="card stack-tight" id="holder" hidden>
<h2>${escapeHtml(t('holder_title'))}</h2>
<p class="soft small">${escapeHtml(t('holder_note'))}</p>
<form class="stack-tight"><label>${escapeHtml(t('holder_label'))}<input type="text" name="address" required maxlength="320" autocomplete="off" autocapitalize="none" spellcheck="false"></label>
<button>${escapeHtml(t('holder_button'))}</button><p role="status"></p></form>
</section>`
}

async function renderShare(
  credential: PublicCredential,
  skill: string,
  issuer: string,
  url: string,
  t: Translate,
  language: Language,
): Promise<string> {
  const file = `/credentials/${credential.id}`
  return `<section class="card share" aria-labelledby="share-title">
<div class="stack-tight"><h2 id="share-title">${escapeHtml(t('share_title'))}</h2>
<div class="row"><button type="button" id="copy" class="primary" hidden>${escapeHtml(t('copy_link'))}</button>
<a class="button" href="${escapeHtml(linkedInUrl(credential, skill, issuer, url))}" rel="noopener" target="_blank">${escapeHtml(t('linkedin'))}</a>
<form method="post" action="${file}/wallet?lang=${language}"><button>${escapeHtml(t('wallet_add'))}</button></form>
<a class="button" href="${file}.pdf">${escapeHtml(t('download_pdf'))}</a>
<a class="button" href="${file}.png" download>${escapeHtml(t('download_png'))}</a>
<a class="button" href="${file}.json" download>${escapeHtml(t('download_json'))}</a>
<a class="button" href="${file}.jwt" download>${escapeHtml(t('download_jwt'))}</a></div>
<p class="small soft">${escapeHtml(t('download_note'))}</p></div>
${await qrCodeSvg(url, escapeHtml(t('qr_label')))}
</section>`
}

/** Returns the link that opens LinkedIn's form for a licence or certification with the fields filled in. */
function linkedInUrl(
  { id, issuedAt, validUntil }: PublicCredential,
  skill: string,
  issuer: string,
  url: string,
): string {
  const parameters = new URLSearchParams({
    startTask: 'CERTIFICATION_NAME',
    name: skill,
    organizationName: issuer,
    issueYear: String(issuedAt.getUTCFullYear()),
    issueMonth: String(issuedAt.getUTCMonth() + 1),
    expirationYear: String(validUntil.getUTCFullYear()),
    expirationMonth: String(validUntil.getUTCMonth() + 1),
    certUrl: url,
    certId: id,
  })
  return `https://www.linkedin.com/profile/add?${parameters}`
}
