export default {
  Electrician: 'इलेक्ट्रीशियन',
  Branding: 'ब्रांडिंग',
  Preview: 'प्रीव्यू',
  Footer: 'फ़ुटर',
  Website: 'वेबसाइट',
  'Reply address of emails': 'ईमेल के जवाब का पता',
  'Without web addresses. Emails are sent by “Name via Attestry”.':
    'वेब पते न लिखें। ईमेल में प्रेषक का नाम “नाम via Attestry” दिखता है।',
  'One line at the end of pages and emails, such as the registered name and address.':
    'पेज और ईमेल के अंत में एक लाइन, जैसे पंजीकृत नाम और पता।',
  'Linked at the end of pages and emails. Must start with https://':
    'पेज और ईमेल के अंत में इसका लिंक होता है। https:// से शुरू होना चाहिए',
  'Receives the replies of candidates, students and reviewers.': 'इस पते पर उम्मीदवारों, छात्रों और समीक्षकों के जवाब आते हैं।',
  'Buttons and links. The dark theme uses a lighter shade of it.':
    'बटन और लिंक का रंग। डार्क थीम में इसका हल्का शेड इस्तेमाल होता है।',
  Logo: 'लोगो',
  'PNG, JPEG or WebP, up to 100 KB and 1,024 pixels a side. Also the icon of the browser tab.':
    'PNG, JPEG या WebP, ज़्यादा से ज़्यादा 100 KB और हर तरफ़ 1,024 पिक्सेल। ब्राउज़र टैब का आइकन भी यही होता है।',
  'Current logo': 'मौजूदा लोगो',
  'Remove logo': 'लोगो हटाएँ',
  'No logo': 'कोई लोगो नहीं',
  'Not saved. Correct the marked fields above.': 'सहेजा नहीं गया। ऊपर चिह्नित फ़ील्ड ठीक करें।',
  'Branding saved. New emails and pages use it at once.': 'ब्रांडिंग सहेजी गई। नए ईमेल और पेज में यह तुरंत दिखेगी।',
  'Save branding': 'ब्रांडिंग सहेजें',
  'Only owners can change the branding.': 'ब्रांडिंग केवल ओनर बदल सकते हैं।',
  'Are you interested in this job?': 'क्या आपको इस जॉब में रुचि है?',
  'Your personal data': 'आपका निजी डेटा',
  'From: {name} via Attestry': 'प्रेषक: {name} via Attestry',
  'Hello Asha, …': 'नमस्ते आशा, …',
  'Candidates, students, reviewers and hiring managers see this on their pages and in their emails, in TEST and LIVE mode. Empty fields keep the look of Attestry.':
    'उम्मीदवारों, छात्रों, समीक्षकों और हायरिंग मैनेजरों को टेस्ट और लाइव मोड में यह अपने पेज और ईमेल में दिखता है। खाली छोड़े गए फ़ील्ड में Attestry का डिज़ाइन बना रहता है।',
  Colour: 'रंग',
  'Choose a colour': 'रंग चुनें',
  'White text on the colour: {contrast}:1': 'इस रंग पर सफ़ेद टेक्स्ट: {contrast}:1',
  'The colour on a light page: {contrast}:1': 'हल्के पेज पर यह रंग: {contrast}:1',
  'Its lighter shade on a dark page: {contrast}:1': 'गहरे पेज पर इसका हल्का शेड: {contrast}:1',
  'Readable: at least {contrast} everywhere.': 'पढ़ने योग्य: हर जगह कम से कम {contrast}।',
  'Hard to read: at least {contrast} is required.': 'पढ़ना मुश्किल है: कम से कम {contrast} ज़रूरी है।',
  'Use {suggestion} instead': 'इसके बजाय {suggestion} इस्तेमाल करें',
}
