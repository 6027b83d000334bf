import type { Context } from '../../context.ts'
import type { IdentityProvider } from './identity-providers.ts'

/** Returns the page that ends the session at the provider (RP-Initiated Logout), or null if the provider has none. */
export function signOutUrl(
  { end_session_endpoint, client_id }: IdentityProvider,
  { publicUrl }: Pick<Context['config'], 'publicUrl'>,
): string | null {
  if (end_session_endpoint === null) return null
  const url = new URL(end_session_endpoint)
  url.searchParams.set('client_id', client_id)
  url.searchParams.set('post_logout_redirect_uri', `${publicUrl}/console/sign-in`)
  return url.href
}
