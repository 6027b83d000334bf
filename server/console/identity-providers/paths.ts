import { CONSOLE_BASE } from '../../api/envelope.ts'

/** Path of the redirect URI that is registered at identity providers. */
export const CALLBACK_PATH = `${CONSOLE_BASE}/sign-in/callback`

export function redirectUri(publicUrl: string): string {
  return publicUrl + CALLBACK_PATH
}

/** Returns the page on which people of an organisation, or the operators, sign in with their provider. */
export function providerSignInUrl(publicUrl: string, orgId: string | null): string {
  return `${publicUrl}/console/sign-in${orgId === null ? '' : `?org=${orgId}`}`
}
