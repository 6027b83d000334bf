import { sealedAtsKeys } from './access/ats-keys.ts'
import { sealedResponses } from './access/idempotency.ts'
import { sealedKeySecrets } from './access/keys.ts'
import { sealedAtsCredentials } from './ats/connections.ts'
import { sealedDndSecrets } from './campaigns/dnd/dnd-check.ts'
import { sealedCandidateTokens } from './campaigns/enrolment.ts'
import { sealedCredentials } from './channels/credentials.ts'
import { sealedClientSecrets } from './console/identity-providers/identity-providers.ts'
import { sealedAppSecrets } from './console/second-factors/authenticator-apps.ts'
import { sealedCredentialKeys } from './credentials/issuers/issuers.ts'
import { sealedLinkRequests } from './credentials/link-requests/link-requests.ts'
import { sealedItemSets } from './items/item-sets.ts'
import { sealedSkillItems } from './items/item-store.ts'
import { sealedEmails } from './mail/mail.ts'
import { sealedMailboxHashKeys } from './mail/mailbox-hash.ts'
import { sealedBlindIndexKeys } from './people/identity/blind-index.ts'
import { sealedPersonKeys } from './people/identity/person-key.ts'
import { type SealedColumn, sealedMacKeys } from './platform/data-key-rotation.ts'
import { sealedReviewLinks } from './verification/reviews/review-requests.ts'
import { sealedWebhookSecrets } from './webhooks/secrets.ts'

/** Every column with texts that the vault sealed. A rotation of the data key encrypts them again. */
export const sealedColumns: readonly SealedColumn[] = [
  ...sealedKeySecrets,
  ...sealedWebhookSecrets,
  sealedCredentials,
  sealedResponses,
  sealedReviewLinks,
  sealedEmails,
  sealedMailboxHashKeys,
  sealedBlindIndexKeys,
  sealedPersonKeys,
  sealedCandidateTokens,
  sealedDndSecrets,
  sealedSkillItems,
  sealedItemSets,
  sealedCredentialKeys,
  sealedLinkRequests,
  sealedMacKeys,
  sealedAtsKeys,
  sealedAtsCredentials,
  sealedClientSecrets,
  sealedAppSecrets,
]
