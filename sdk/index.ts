export {
  type AttestryAnswer,
  AttestryClient,
  type AttestryResponse,
  type CallOptions,
  type ClientOptions,
  type RequestOptions,
} from './client.ts'
export { AttestryConfigurationError, type Configuration } from './configuration.ts'
export { AttestryConnectionError, AttestryError } from './error.ts'
export { List } from './list.ts'
export type * from './resources.ts'
export type { RetryOptions } from './retry.ts'
export { linesToSign, type SignInput, sign } from './sign.ts'
export type { WriteOptions } from './transport.ts'
export type * from './types.ts'
export {
  type DescribedOutput,
  describeEvidence,
  describeItemSource,
  describeQualified,
  describeQuestions,
  describeReasons,
  describeVerifiedSkills,
  type ReasonOptions,
} from './verdict-texts.ts'
export {
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhooks.ts'
