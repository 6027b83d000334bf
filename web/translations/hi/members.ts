export default {
  'Add member': 'सदस्य जोड़ें',
  'Add your colleagues by email address. They sign in with an emailed link and need no password.':
    'अपने सहकर्मियों को ईमेल पते से जोड़ें। वे ईमेल से मिले लिंक से साइन इन करते हैं और उन्हें पासवर्ड की ज़रूरत नहीं होती।',
  Email: 'ईमेल',
  'End all sessions': 'सभी सत्र समाप्त करें',
  'Last signed in': 'आखिरी साइन इन',
  'Last used {usedAt}, signed in {signedInAt}': 'आखिरी इस्तेमाल: {usedAt}, साइन इन: {signedInAt}',
  'Last used {usedAt}, signed in {signedInAt} from {address}':
    'आखिरी इस्तेमाल: {usedAt}, {address} से साइन इन: {signedInAt}',
  'Members of the organisation': 'संगठन के सदस्य',
  'No members yet': 'अभी कोई सदस्य नहीं',
  'Owner: can also manage keys, webhooks and the team': 'ओनर: API कुंजियाँ, वेबहुक और टीम भी संभाल सकते हैं',
  'Recruiter: can also run jobs and campaigns': 'रिक्रूटर: जॉब और अभियान भी चला सकते हैं',
  Remove: 'हटाएँ',
  'Remove {email}?': '{email} को हटाएँ?',
  Role: 'भूमिका',
  'Role of {email}': '{email} की भूमिका',
  Sessions: 'सत्र',
  'Sessions of {email}': '{email} के सत्र',
  Team: 'टीम',
  'We email them a link that signs them in. It works once and expires after 7 days.':
    'हम उन्हें साइन इन करने का लिंक ईमेल करते हैं। वह एक बार काम करता है और 7 दिन बाद उसकी अवधि समाप्त हो जाती है।',
  'Invitation sent to {email}.': '{email} को आमंत्रण भेजा गया।',
  'Resend invitation': 'आमंत्रण दोबारा भेजें',
  'Resend invitation: {email}': 'आमंत्रण दोबारा भेजें: {email}',
  'This member is not signed in.': 'यह सदस्य अभी साइन इन नहीं है।',
  'This member is signed out immediately and loses access to this organisation.':
    'यह सदस्य तुरंत साइन आउट हो जाएँगे और इस संगठन तक उनकी पहुँच समाप्त हो जाएगी।',
  'Viewer: can view everything': 'व्यूअर: सब कुछ देख सकते हैं',
  owner: 'ओनर',
  recruiter: 'रिक्रूटर',
  viewer: 'व्यूअर',
}
