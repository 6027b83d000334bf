import type { ChannelName } from '../../channels/channel.ts'
import type { UnsubscribeTexts } from '../../mail/unsubscribe-texts.ts'
import type { AccountLanguage } from '../auth/account-language.ts'
import type { NotificationType } from './notification-types.ts'

/** Texts of notifications in emails. The console has the same texts in web/console/notifications/ and web/translations/. */

type Values = Record<string, string>
type DescribeNotification = (count: number, values: Values) => string

const CHANNEL_TITLES: Record<ChannelName, string> = {
  whatsapp: 'WhatsApp messages',
  voice: 'Calls',
  sms: 'SMS',
  email: 'Emails to candidates',
}

const HINDI_CHANNEL_FAILURES: Record<ChannelName, string> = {
  whatsapp: 'WhatsApp संदेश नहीं पहुँच रहे हैं',
  voice: 'कॉल नहीं लग रही हैं',
  sms: 'SMS नहीं पहुँच रहे हैं',
  email: 'उम्मीदवारों को ईमेल नहीं पहुँच रहे हैं',
}

/** The titles of data/message-errors/errors.json. */
const HINDI_FAILURE_REASONS: Record<string, string> = {
  no_account: 'इस नंबर या पते पर संदेश नहीं पहुँच सकते',
  not_answered: 'कॉल का जवाब नहीं मिला, या फ़ोन व्यस्त था',
  unavailable: 'फ़ोन बंद था, नेटवर्क से बाहर था, या उसमें जगह नहीं थी',
  opted_out: 'व्यक्ति ने संदेश बंद करवाए हैं',
  too_many_marketing: 'WhatsApp ने मार्केटिंग संदेश रोक लिया, क्योंकि इस व्यक्ति को ऐसे बहुत से संदेश मिलते हैं',
  window_closed: 'व्यक्ति का पिछला संदेश 24 घंटे से ज़्यादा पुराना है',
  template: 'टेम्पलेट मौजूद नहीं है, स्वीकृत नहीं है, रुका हुआ है, या संदेश से मेल नहीं खाता',
  entity: 'DLT एंटिटी रजिस्टर नहीं है, या सक्रिय नहीं है',
  telemarketer: 'DLT पोर्टल में आपकी एंटिटी SMS प्रोवाइडर से जुड़ी नहीं है',
  header: 'सेंडर हेडर रजिस्टर नहीं है, या सक्रिय नहीं है',
  preference: 'व्यक्ति ने ऐसे संदेश रोक रखे हैं (DND), या उसकी सहमति नहीं है',
  hours: 'मोबाइल ऑपरेटर इस समय ऐसे संदेश नहीं पहुँचाता',
  filtered: 'मोबाइल ऑपरेटर ने संदेश को स्पैम मानकर, या उसके लिंक या सेंडर के कारण रोक दिया',
  country: 'प्रोवाइडर इस देश में ऐसे संदेश नहीं भेज सकता',
  account: 'प्रोवाइडर ने खाता या उसके क्रेडेंशियल स्वीकार नहीं किए',
  busy: 'प्रोवाइडर देर तक व्यस्त रहा, या उसकी दर सीमा पार हो गई',
  other: 'प्रोवाइडर की कोई और गड़बड़ी',
}

export const NOTIFICATION_TEXTS: Record<AccountLanguage, Record<NotificationType, DescribeNotification>> = {
  en: {
    candidates_qualified: (count, { campaign }) => `${englishCandidates(count)} qualified in “${campaign}”`,
    candidates_undecided: (count, { campaign }) =>
      `${englishCandidates(count)} ${count === 1 ? 'is' : 'are'} undecided in “${campaign}”`,
    candidates_ended: (count, { campaign }) => `${englishCandidates(count)} ended without qualifying in “${campaign}”`,
    candidates_assigned: (count) => `${englishCandidates(count)} ${count === 1 ? 'was' : 'were'} assigned to you`,
    endpoint_failing: (_, { url }) => `All deliveries to the webhook endpoint ${url} have failed for a day`,
    messages_failed: (_, { channel, reason }) => `${CHANNEL_TITLES[channel as ChannelName]} fail: ${reason}`,
    ats_report_failed: (count, { system }) =>
      `${count === 1 ? 'A report' : `${count.toLocaleString('en')} reports`} to ${system} failed and will not be retried`,
    credits_low: (_, { balance }) => `Credits are low: ${Number(balance).toLocaleString('en')} left`,
    credits_exhausted: () => 'No credits are left: candidates cannot be enrolled',
    skill_request_approved: (_, { name, skill }) =>
      skill
        ? `The requested skill “${name}” is in the catalogue as “${skill}”`
        : `The skill “${name}” was added to the catalogue`,
    skill_request_rejected: (_, { name, reason }) =>
      `The request for the skill “${name}” was rejected${reason ? `: ${reason}` : ''}`,
  },
  hi: {
    candidates_qualified: (count, { campaign }) =>
      count === 1
        ? `“${campaign}” में 1 उम्मीदवार योग्य पाया गया`
        : `“${campaign}” में ${hindiNumber(count)} उम्मीदवार योग्य पाए गए`,
    candidates_undecided: (count, { campaign }) =>
      count === 1
        ? `“${campaign}” में 1 उम्मीदवार का नतीजा तय नहीं हो पाया`
        : `“${campaign}” में ${hindiNumber(count)} उम्मीदवारों का नतीजा तय नहीं हो पाया`,
    candidates_ended: (count, { campaign }) =>
      count === 1
        ? `“${campaign}” में 1 उम्मीदवार की बातचीत समाप्त हुई, पर वह योग्य नहीं पाया गया`
        : `“${campaign}” में ${hindiNumber(count)} उम्मीदवारों की बातचीत समाप्त हुई, पर वे योग्य नहीं पाए गए`,
    candidates_assigned: (count) =>
      count === 1 ? 'आपको 1 उम्मीदवार सौंपा गया' : `आपको ${hindiNumber(count)} उम्मीदवार सौंपे गए`,
    endpoint_failing: (_, { url }) => `वेबहुक एंडपॉइंट ${url} पर एक दिन से कोई डिलीवरी सफल नहीं हुई है`,
    messages_failed: (_, { channel, reason, reason_code }) =>
      `${HINDI_CHANNEL_FAILURES[channel as ChannelName]}: ${HINDI_FAILURE_REASONS[reason_code!] ?? reason}`,
    ats_report_failed: (count, { system }) =>
      count === 1
        ? `${system} को एक रिपोर्ट नहीं भेजी जा सकी, और वह दोबारा नहीं भेजी जाएगी`
        : `${system} को ${hindiNumber(count)} रिपोर्ट नहीं भेजी जा सकीं, और वे दोबारा नहीं भेजी जाएँगी`,
    credits_low: (_, { balance }) => `क्रेडिट कम हैं: केवल ${hindiNumber(Number(balance))} बाकी`,
    credits_exhausted: () => 'एक भी क्रेडिट नहीं बचा है: अब उम्मीदवार नहीं जोड़े जा सकते',
    skill_request_approved: (_, { name, skill }) =>
      skill ? `माँगा गया कौशल “${name}” कैटलॉग में “${skill}” नाम से मौजूद है` : `कौशल “${name}” कैटलॉग में जोड़ दिया गया है`,
    skill_request_rejected: (_, { name, reason }) =>
      `कौशल “${name}” जोड़ने का अनुरोध अस्वीकार किया गया${reason ? `: ${reason}` : ''}`,
  },
}

function englishCandidates(count: number): string {
  return count === 1 ? '1 candidate' : `${count.toLocaleString('en')} candidates`
}

function hindiNumber(number: number): string {
  return number.toLocaleString('hi-IN')
}

interface NotificationEmailTexts {
  failures: (organisation: string) => string
  digest: (organisation: string) => string
  /** The number of notifications that the email does not list. */
  more: (count: number) => string
  settings: (settingsUrl: string, unsubscribeUrl: string) => string
  settingsLink: string
  unsubscribeLink: string
  unsubscribePage: UnsubscribeTexts
}

export const NOTIFICATION_EMAIL_TEXTS: Record<AccountLanguage, NotificationEmailTexts> = {
  en: {
    failures: (organisation) => `A failure in ${organisation}`,
    digest: (organisation) => `What is new in ${organisation}`,
    more: (count) =>
      count === 1 ? '1 more is in the console.' : `${count.toLocaleString('en')} more are in the console.`,
    settings: (settingsUrl, unsubscribeUrl) =>
      `Choose in the console which notifications you get: ${settingsUrl}. To get no more of these emails: ${unsubscribeUrl}`,
    settingsLink: 'Choose your notifications',
    unsubscribeLink: 'Stop these emails',
    unsubscribePage: {
      title: 'Stop emails with notifications',
      question: 'Do you want to stop emails with notifications about this organisation? The console still shows them.',
      button: 'Stop these emails',
      done: 'You will get no more emails with notifications. You can switch them on again in the console.',
    },
  },
  hi: {
    failures: (organisation) => `${organisation}: कुछ विफल हुआ है`,
    digest: (organisation) => `${organisation} में नया क्या है`,
    more: (count) => (count === 1 ? '1 और सूचना कंसोल में है।' : `${hindiNumber(count)} और सूचनाएँ कंसोल में हैं।`),
    settings: (settingsUrl, unsubscribeUrl) =>
      `आपको कौन सी सूचनाएँ मिलें, यह कंसोल में चुनें: ${settingsUrl}\nये ईमेल बंद करें: ${unsubscribeUrl}`,
    settingsLink: 'सूचनाएँ चुनें',
    unsubscribeLink: 'ये ईमेल बंद करें',
    unsubscribePage: {
      title: 'सूचनाओं के ईमेल बंद करें',
      question: 'क्या आप इस संगठन की सूचनाओं के ईमेल बंद करना चाहते हैं? कंसोल में सूचनाएँ दिखती रहेंगी।',
      button: 'ये ईमेल बंद करें',
      done: 'अब आपको सूचनाओं के ईमेल नहीं मिलेंगे। आप इन्हें कंसोल में फिर से चालू कर सकते हैं।',
    },
  },
}
