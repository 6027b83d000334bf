import type { AccountLanguage } from './account-language.ts'
import type { MemberRole } from './roles.ts'

/** Texts of the emails with which members and operators sign in. */
interface SignInEmailTexts {
  link: { subject: string; intro: (minutes: number) => string; button: string; disclaimer: string }
  invitation: {
    subject: (organisation: string) => string
    greeting: (name: string) => string
    intro: (organisation: string, role: MemberRole) => string
    useLink: (days: number) => string
    useProvider: (provider: string) => string
    later: (url: string, email: string) => string
    button: string
    disclaimer: string
  }
  operator: { subject: string; intro: string; instructions: (url: string, email: string) => string; button: string }
  code: { subject: string; intro: (code: string, minutes: number) => string; title: string; disclaimer: string }
}

const HINDI_ROLES: Record<MemberRole, string> = { viewer: 'व्यूअर', recruiter: 'रिक्रूटर', owner: 'ओनर' }

export const SIGN_IN_EMAIL_TEXTS: Record<AccountLanguage, SignInEmailTexts> = {
  en: {
    link: {
      subject: 'Your sign-in link',
      intro: (minutes) =>
        `Use this link to sign in to the Attestry console. It works once and expires in ${minutes} minutes. Do not share it.`,
      button: 'Sign in',
      disclaimer: 'If you did not request this link, you can ignore this email.',
    },
    invitation: {
      subject: (organisation) => `You have been added to ${organisation}`,
      greeting: (name) => `Hello ${name},`,
      intro: (organisation, role) => `You now have access to ${organisation} on Attestry, with the role ${role}.`,
      useLink: (days) => `Use this link to sign in. It works once and expires in ${days} days. Do not share it.`,
      useProvider: (provider) => `This organisation requires that you sign in with ${provider}. Use this link:`,
      later: (url, email) =>
        `Later, or if the link does not work, open ${url} and enter ${email}. You will receive a new sign-in link by email.`,
      button: 'Sign in',
      disclaimer: 'If you do not know why you received this email, you can ignore it.',
    },
    operator: {
      subject: 'You are now an operator',
      intro: 'You are now an operator of this Attestry server.',
      instructions: (url, email) =>
        `To sign in, open ${url} and enter ${email}. You will receive a sign-in link by email.`,
      button: 'Open the console',
    },
    code: {
      subject: 'Your confirmation code',
      intro: (code, minutes) =>
        `Your confirmation code for the Attestry console is ${code}. It works once and expires in ${minutes} minutes. Do not share it.`,
      title: 'Confirmation code',
      disclaimer:
        'If you did not request this code, another person may be using your session: open the console and sign out of all sessions.',
    },
  },
  hi: {
    link: {
      subject: 'साइन इन करने का आपका लिंक',
      intro: (minutes) =>
        `Attestry कंसोल में साइन इन करने के लिए इस लिंक का इस्तेमाल करें। यह एक बार काम करता है और ${minutes} मिनट तक मान्य है। इसे किसी के साथ शेयर न करें।`,
      button: 'साइन इन करें',
      disclaimer: 'अगर आपने यह लिंक नहीं माँगा था, तो इस ईमेल पर ध्यान न दें।',
    },
    invitation: {
      subject: (organisation) => `आपको ${organisation} में जोड़ा गया है`,
      greeting: (name) => `नमस्ते ${name},`,
      intro: (organisation, role) =>
        `अब आप Attestry पर ${organisation} में काम कर सकते हैं। आपकी भूमिका ${HINDI_ROLES[role]} है।`,
      useLink: (days) =>
        `साइन इन करने के लिए इस लिंक का इस्तेमाल करें। यह एक बार काम करता है और ${days} दिन तक मान्य है। इसे किसी के साथ शेयर न करें।`,
      useProvider: (provider) => `इस संगठन में ${provider} से साइन इन करना ज़रूरी है। इस लिंक का इस्तेमाल करें:`,
      later: (url, email) =>
        `बाद में, या अगर लिंक काम न करे, तो ${url} खोलें और ${email} दर्ज करें। आपको ईमेल से साइन इन करने का नया लिंक मिलेगा।`,
      button: 'साइन इन करें',
      disclaimer: 'अगर आपको नहीं पता कि यह ईमेल आपको क्यों मिला, तो इस पर ध्यान न दें।',
    },
    operator: {
      subject: 'अब आप ऑपरेटर हैं',
      intro: 'अब आप इस Attestry सर्वर के ऑपरेटर हैं।',
      instructions: (url, email) =>
        `साइन इन करने के लिए ${url} खोलें और ${email} दर्ज करें। आपको ईमेल से साइन इन करने का लिंक मिलेगा।`,
      button: 'कंसोल खोलें',
    },
    code: {
      subject: 'आपका पुष्टि कोड',
      intro: (code, minutes) =>
        `Attestry कंसोल के लिए आपका पुष्टि कोड ${code} है। यह एक बार काम करता है और ${minutes} मिनट तक मान्य है। इसे किसी को न बताएँ।`,
      title: 'पुष्टि कोड',
      disclaimer:
        'अगर आपने यह कोड नहीं माँगा था, तो हो सकता है कि कोई और आपके सत्र का इस्तेमाल कर रहा हो: कंसोल खोलें और हर जगह से साइन आउट करें।',
    },
  },
}
