import { CONSOLE_BASE } from '../../api/envelope.ts'

/** Start of the paths of all redirect URIs. */
export const CALLBACK_PATH = `${CONSOLE_BASE}/sign-in/callback`

/** Returns the last part of the redirect URI of an organisation's provider, or of that of the operators for null. */
export function callbackName(orgId: string | null): string {
  return orgId ?? 'operators'
}

/**
 * Returns the redirect URI that is registered at a provider. Each provider has its own, so that a response of one provider cannot be sent to
 * another one (mix-up attack, RFC 9700). It contains the organisation and not the provider, because it is registered before the provider
 * is saved.
 */
export function redirectUri(publicUrl: string, orgId: string | null): string {
  return `${publicUrl}${CALLBACK_PATH}/${callbackName(orgId)}`
}

/** Returns the page on which people of an organisation, or the operators, sign in with their provider. */
export function providerSignInUrl(publicUrl: string, orgId: string | null): string {
  return `${publicUrl}/console/sign-in${orgId === null ? '' : `?org=${orgId}`}`
}
