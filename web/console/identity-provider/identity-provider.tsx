import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { ProviderSettings } from './provider-settings.tsx'

/** The identity provider of the organisation. */
export default function IdentityProviderPage() {
  const { org, pagePath } = useOrgContext()
  return (
    <>
      <h1>{t('Identity provider')}</h1>
      <p class="soft">
        {richText(
          'Members of <team>the team</team> sign in with OpenID Connect, for example with Keycloak, Okta, Microsoft Entra ID or Google. See the guide <guide>Sign in with your identity provider</guide>.',
          {
            team: (words) => <Link to={pagePath('/members')}>{words}</Link>,
            guide: (words) => <a href="/docs/guides/sign-in-with-your-identity-provider">{words}</a>,
          },
        )}
      </p>
      <ProviderSettings path={`/orgs/${org.org_id}/identity-provider`} roles={['owner', 'recruiter', 'viewer']} />
    </>
  )
}
