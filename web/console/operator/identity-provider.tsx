import { ProviderSettings } from '../identity-provider/provider-settings.tsx'
import { Link } from '../shell/router.tsx'

/** The identity provider of the operators. */
export default function OperatorIdentityProvider() {
  return (
    <>
      <h1>Identity provider of the operators</h1>
      <p class="soft">
        <Link to="/operator/operators">Operators</Link> sign in with OpenID Connect. People with a mapped group become
        operators of this server when they first sign in. See the guide{' '}
        <a href="/docs/guides/sign-in-with-your-identity-provider">Sign in with your identity provider</a>.
      </p>
      <ProviderSettings path="/operator/identity-provider" roles={['operator']} />
    </>
  )
}
