import { CREDENTIALS_CONTEXT, OPEN_BADGES_CONTEXT } from '../proof/contexts.ts'

export const PRE_AUTHORIZED_GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

export const walletPaths = { token: '/wallet/token', credential: '/wallet/credential', offers: '/wallet/offers' }

/** The formats in which a wallet can get a credential, by the ID of their configuration. */
export const walletFormats = {
  open_badge_jwt: 'jwt_vc_json',
  open_badge_data_integrity: 'ldp_vc',
} as const
export type WalletConfigurationId = keyof typeof walletFormats

const TYPES = ['VerifiableCredential', 'OpenBadgeCredential']
const DISPLAY = [{ name: 'Verified skill', locale: 'en' }]

/**
 * Returns the metadata of the credential issuer (OpenID4VCI 1.0, section 12.2). It lists no proof types: credentials identify the person
 * by a hash of the address, not by a key of the wallet.
 */
export function issuerMetadata(baseUrl: string): object {
  return {
    credential_issuer: baseUrl,
    credential_endpoint: baseUrl + walletPaths.credential,
    display: [{ name: 'Attestry', locale: 'en' }],
    credential_configurations_supported: {
      open_badge_jwt: {
        format: walletFormats.open_badge_jwt,
        credential_definition: { type: TYPES },
        credential_signing_alg_values_supported: ['EdDSA'],
        display: DISPLAY, // where drafts before 1.0 expect it
        credential_metadata: { display: DISPLAY },
      },
      open_badge_data_integrity: {
        format: walletFormats.open_badge_data_integrity,
        credential_definition: { '@context': [CREDENTIALS_CONTEXT, OPEN_BADGES_CONTEXT], type: TYPES },
        credential_signing_alg_values_supported: ['DataIntegrityProof'],
        display: DISPLAY,
        credential_metadata: { display: DISPLAY },
      },
    },
  }
}

/** Returns the metadata of the authorization server (RFC 8414), which is this server too. */
export function authorizationServerMetadata(baseUrl: string): object {
  return {
    issuer: baseUrl,
    token_endpoint: baseUrl + walletPaths.token,
    token_endpoint_auth_methods_supported: ['none'],
    response_types_supported: [],
    grant_types_supported: [PRE_AUTHORIZED_GRANT],
    'pre-authorized_grant_anonymous_access_supported': true,
  }
}

/** Returns the offer of a credential (section 4.1.1). The code is the authorization of the person: no sign-in follows. */
export function credentialOffer(baseUrl: string, code: string): object {
  return {
    credential_issuer: baseUrl,
    credential_configuration_ids: Object.keys(walletFormats),
    grants: { [PRE_AUTHORIZED_GRANT]: { 'pre-authorized_code': code } },
  }
}

/** Returns the link that opens a wallet. It refers to the offer instead of containing it, so that the QR code stays small. */
export function offerLink(baseUrl: string, code: string): string {
  const offerUrl = `${baseUrl}${walletPaths.offers}/${code}`
  return `openid-credential-offer://?credential_offer_uri=${encodeURIComponent(offerUrl)}`
}
