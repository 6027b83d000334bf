export default {
  '{browser}, {system}': '{browser}, {system}',
  'A passkey signs you in with your fingerprint, face or PIN instead of an emailed link.':
    'पासकी हो तो आप ईमेल में आए लिंक के बजाय फ़िंगरप्रिंट, चेहरे या PIN से साइन इन करते हैं।',
  Actions: 'कार्रवाइयाँ',
  'Add a passkey': 'पासकी जोड़ें',
  Added: 'जोड़ने का समय',
  'Authenticator app': 'ऑथेंटिकेटर ऐप',
  'Your colleagues see it with your email address. Leave it empty to show only the address.':
    'आपके सहकर्मी इसे आपके ईमेल पते के साथ देखते हैं। केवल पता दिखाने के लिए इसे खाली छोड़ दें।',
  'Your name': 'आपका नाम',
  'Your name was saved.': 'आपका नाम सहेजा गया।',
  Browser: 'ब्राउज़र',
  'Code of the app': 'ऐप का कोड',
  'End session': 'सत्र समाप्त करें',
  'End sessions that you do not recognise. A session ends after 12 hours without a request, and at the latest after 7 days.':
    'जिन सत्रों को आप नहीं पहचानते, उन्हें समाप्त करें। 12 घंटे तक कोई गतिविधि न होने पर, और ज़्यादा से ज़्यादा 7 दिन बाद, सत्र समाप्त हो जाता है।',
  'I have stored them': 'मैंने इन्हें सहेज लिया है',
  'IP address': 'IP पता',
  'If you lose your device, each of these codes replaces a code of the app once. They are not shown again: print them, or store them in a password manager.':
    'अगर आपका डिवाइस खो जाए, तो इनमें से हर कोड एक बार ऐप के कोड की जगह काम करेगा। ये दोबारा नहीं दिखाए जाएँगे: इन्हें प्रिंट करें, या पासवर्ड मैनेजर में सहेजें।',
  'Last used': 'आखिरी बार इस्तेमाल',
  Name: 'नाम',
  'No sessions.': 'कोई सत्र नहीं।',
  'Passkey of {date}': '{date} की पासकी',
  Passkeys: 'पासकी',
  'Passkeys need a server with a domain name and HTTPS.': 'पासकी के लिए डोमेन नाम और HTTPS वाला सर्वर चाहिए।',
  'QR code with the secret': 'सीक्रेट वाला QR कोड',
  'Remove the app': 'ऐप हटाएँ',
  'Remove the passkey {name}': 'पासकी {name} हटाएँ',
  'Scan the code with an app such as Aegis, Google Authenticator or 1Password, or enter the secret by hand.':
    'Aegis, Google Authenticator या 1Password जैसे ऐप से कोड स्कैन करें, या सीक्रेट खुद टाइप करें।',
  'Set up an app': 'ऐप सेट अप करें',
  'Set up an authenticator app': 'ऑथेंटिकेटर ऐप सेट अप करें',
  'Sign out everywhere': 'हर जगह से साइन आउट करें',
  'Sign-in by email also requires a code of your app. Recovery codes left: {count}.':
    'ईमेल से साइन इन करने के लिए आपके ऐप का कोड भी ज़रूरी है। बचे हुए रिकवरी कोड: {count}।',
  'Signed in': 'साइन इन का समय',
  'Six digits.': 'छह अंक।',
  'Store your recovery codes': 'अपने रिकवरी कोड सहेजें',
  'This session': 'यह सत्र',
  'Turn on': 'चालू करें',
  'With an app, sign-in by email also requires a code that the app shows.':
    'ऐप सेट अप होने पर ईमेल से साइन इन करने के लिए ऐप में दिखने वाला कोड भी ज़रूरी होता है।',
  'Your passkeys': 'आपकी पासकी',
  'Your sessions': 'आपके सत्र',
  'Your sessions, newest first': 'आपके सत्र, सबसे नए पहले',
}
