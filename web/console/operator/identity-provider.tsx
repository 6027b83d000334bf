import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { ProviderSettings } from '../identity-provider/provider-settings.tsx'
import { Link } from '../shell/router.tsx'

/** The identity provider of the operators. */
export default function OperatorIdentityProvider() {
  return (
    <>
      <h1>{t('Identity provider of the operators')}</h1>
      <p class="soft">
        {richText(
          '<link>Operators</link> sign in with OpenID Connect. People with a mapped group become operators of this server when they first sign in. See the guide <guide>Sign in with your identity provider</guide>.',
          {
            link: (words) => <Link to="/operator/operators">{words}</Link>,
            guide: (words) => <a href="/docs/guides/sign-in-with-your-identity-provider">{words}</a>,
          },
        )}
      </p>
      <ProviderSettings path="/operator/identity-provider" roles={['operator']} />
    </>
  )
}
