import type { Brand } from '../../branding/branding.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { PublicProfile } from '../credentials.ts'
import { renderFooter, renderHead, renderTop } from './credential-html.ts'
import { type CredentialState, credentialState } from './credential-state.ts'
import { qrCodeSvg } from './qr-code.ts'
import { formatDate, translator } from './texts.ts'

const STATE_CLASSES: Record<CredentialState, string> = { valid: 'good', revoked: 'bad', expired: 'wait' }

/** Renders the page that lists the credentials of a holder. It needs no script. */
export async function renderProfilePage(
  { name, credentials }: PublicProfile,
  { url, language, now, brand }: { url: string; language: Language; now: number; brand?: Brand | undefined },
): Promise<{ head: string; body: string }> {
  const t = translator(language)
  const title = name === null ? t('profile_title') : t('profile_of', { name })
  const rows = credentials.map((credential) => {
    const state = credentialState(credential, now)
    return `<li class="card entry"><h2 dir="auto"><a href="/credentials/${credential.id}">${escapeHtml(credential.skillName)}</a></h2>
<p class="soft" dir="auto">${escapeHtml(t('issued_by'))}: ${escapeHtml(credential.organisation.name)}</p>
<p class="row between"><span class="small soft">${escapeHtml(t('issued_on'))}: ${escapeHtml(formatDate(credential.issuedAt, language))}</span><span class="badge ${STATE_CLASSES[state]}">${escapeHtml(t(`state_${state}`))}</span></p></li>`
  })
  const body = `
<div class="sheet">
${renderTop(t, language, brand)}
<main class="stack">
${credentials.some(({ mode }) => mode === 'test') ? `<p class="notice">${escapeHtml(t('test_banner'))}</p>` : ''}
<h1 dir="auto">${escapeHtml(title)}</h1>
${
  rows.length > 0
    ? `<p class="soft">${escapeHtml(t('profile_note'))}</p><ul class="entries">${rows.join('')}</ul>`
    : `<p class="card">${escapeHtml(t('profile_empty'))}</p>`
}
${rows.length > 0 ? await qrCodeSvg(url, escapeHtml(t('qr_label'))) : ''}
</main>
${renderFooter(t, brand)}
</div>`
  return { head: renderHead(title, t('profile_note'), url), body }
}
