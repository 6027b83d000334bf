export { type AttestryAnswer, AttestryClient, type ClientOptions, type RequestOptions } from './client.ts'
export { linesToSign, type SignInput, sign } from './sign.ts'
export {
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhooks.ts'
