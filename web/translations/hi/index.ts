import account from './account.ts'
import analytics from './analytics.ts'
import audit from './audit.ts'
import branding from './branding.ts'
import campaigns from './campaigns.ts'
import channels from './channels.ts'
import credentials from './credentials.ts'
import identityProvider from './identity-provider.ts'
import integrations from './integrations.ts'
import keys from './keys.ts'
import mandates from './mandates.ts'
import members from './members.ts'
import notifications from './notifications.ts'
import operator from './operator.ts'
import people from './people.ts'
import phone from './phone.ts'
import privacy from './privacy.ts'
import questionBank from './question-bank.ts'
import questions from './questions.ts'
import requestLog from './request-log.ts'
import results from './results.ts'
import shared from './shared.ts'
import shell from './shell.ts'
import start from './start.ts'
import ui from './ui.ts'
import verifications from './verifications.ts'
import webhooks from './webhooks.ts'
import workflows from './workflows.ts'

/** The Hindi texts of the console, by the English text. One file has the texts of one folder of the console. */
const texts: Record<string, string> = {
  ...account,
  ...analytics,
  ...audit,
  ...branding,
  ...campaigns,
  ...channels,
  ...credentials,
  ...identityProvider,
  ...integrations,
  ...keys,
  ...mandates,
  ...members,
  ...notifications,
  ...operator,
  ...people,
  ...phone,
  ...privacy,
  ...questionBank,
  ...questions,
  ...requestLog,
  ...results,
  ...shared,
  ...shell,
  ...start,
  ...ui,
  ...verifications,
  ...webhooks,
  ...workflows,
}

export default texts
