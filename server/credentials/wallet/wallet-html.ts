import type { Brand } from '../../branding/branding.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { PublicCredential } from '../credentials.ts'
import { renderFooter, renderTop } from '../pages/credential-html.ts'
import { qrCodeSvg } from '../pages/qr-code.ts'
import { translator } from '../pages/texts.ts'

/**
 * Renders the page with the link and the QR code that add a credential to a wallet, and the address of the signed JSON for wallets without
 * OpenID4VCI, such as the Learner Credential Wallet. It needs no script.
 */
export async function renderWalletPage(
  { id, skillName }: PublicCredential,
  { link, jsonUrl, language, brand }: { link: string; jsonUrl: string; language: Language; brand: Brand | undefined },
): Promise<{ head: string; body: string }> {
  const t = translator(language)
  const title = t('wallet_add')
  return {
    head: `<title>${escapeHtml(title)} · Attestry</title><meta name="robots" content="noindex">`,
    body: `
<div class="sheet">
${renderTop(t, language, brand)}
<main class="stack"><section class="card share">
<div class="stack-tight"><h1>${escapeHtml(title)}</h1>
<p dir="auto">${escapeHtml(skillName)}</p>
<p>${escapeHtml(t('wallet_scan'))}</p>
<p><a class="button primary" href="${escapeHtml(link)}">${escapeHtml(t('wallet_open'))}</a></p>
<p class="small soft">${escapeHtml(t('wallet_expires'))}</p>
<p><a href="/credentials/${escapeHtml(id)}">${escapeHtml(t('wallet_back'))}</a></p></div>
${await qrCodeSvg(link, escapeHtml(title))}
</section>
<details class="card stack-tight"><summary>${escapeHtml(t('wallet_other'))}</summary>
<div class="share"><div class="stack-tight"><p>${escapeHtml(t('wallet_other_note'))}</p>
<p class="address"><code>${escapeHtml(jsonUrl)}</code></p></div>
${await qrCodeSvg(jsonUrl, escapeHtml(jsonUrl))}</div>
</details></main>
${renderFooter(t, brand)}
</div>`,
  }
}
