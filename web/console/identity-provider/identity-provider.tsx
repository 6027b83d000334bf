import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { ProviderSettings } from './provider-settings.tsx'

/** The identity provider of the organisation. */
export default function IdentityProviderPage() {
  const { org, pagePath } = useOrgContext()
  return (
    <>
      <h1>Identity provider</h1>
      <p class="soft">
        Members of <Link to={pagePath('/members')}>the team</Link> sign in with OpenID Connect, for example with
        Keycloak, Okta, Microsoft Entra ID or Google. See the guide{' '}
        <a href="/docs/guides/sign-in-with-your-identity-provider">Sign in with your identity provider</a>.
      </p>
      <ProviderSettings path={`/orgs/${org.org_id}/identity-provider`} roles={['owner', 'recruiter', 'viewer']} />
    </>
  )
}
