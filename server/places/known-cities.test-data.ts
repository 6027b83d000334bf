/** Well-known cities by state. The names of one city are separated by a slash. */
const KNOWN_CITIES = `
Andhra Pradesh: Visakhapatnam/Vizag, Vijayawada/Bezawada, Guntur, Nellore, Kurnool, Rajamahendravaram/Rajahmundry, Tirupati, Kadapa/Cuddapah, Kakinada, Anantapur, Vizianagaram, Eluru, Ongole, Nandyal, Machilipatnam, Adoni, Tenali, Chittoor, Proddatur, Bhimavaram, Srikakulam, Hindupur, Guntakal, Amaravati
Arunachal Pradesh: Itanagar, Tawang, Pasighat
Assam: Guwahati/Gauhati, Silchar, Dibrugarh, Jorhat, Nagaon/Nowgong, Tinsukia, Tezpur, Bongaigaon, Sivasagar/Sibsagar
Bihar: Patna, Gaya, Bhagalpur, Muzaffarpur, Purnia/Purnea, Darbhanga, Bihar Sharif, Arrah/Ara, Begusarai, Katihar, Munger/Monghyr, Chhapra, Saharsa, Hajipur, Sasaram, Siwan, Bettiah, Motihari, Samastipur, Buxar, Kishanganj, Bodh Gaya
Chhattisgarh: Raipur, Bhilai, Bilaspur, Korba, Durg, Rajnandgaon, Jagdalpur, Raigarh, Ambikapur
Goa: Panaji/Panjim, Margao/Madgaon, Vasco da Gama/Vasco, Mapusa, Ponda
Gujarat: Ahmedabad/Amdavad, Surat, Vadodara/Baroda, Rajkot, Bhavnagar, Jamnagar, Junagadh, Gandhinagar, Gandhidham, Anand, Navsari, Morbi, Nadiad, Surendranagar, Bharuch/Broach, Mehsana, Bhuj, Porbandar, Palanpur, Valsad, Vapi, Godhra, Veraval, Ankleshwar, Botad, Dahod
Haryana: Gurugram/Gurgaon, Faridabad, Panipat, Ambala, Yamunanagar, Rohtak, Hisar, Karnal, Sonipat/Sonepat, Panchkula, Bhiwani, Sirsa, Bahadurgarh, Jind, Kaithal, Rewari, Palwal, Manesar, Kurukshetra/Thanesar
Himachal Pradesh: Shimla/Simla, Solan, Dharamshala, Mandi, Baddi, Manali, Kullu, Una, Hamirpur
Jammu and Kashmir: Srinagar, Jammu, Anantnag, Baramulla, Sopore, Kathua, Udhampur
Jharkhand: Ranchi, Jamshedpur/Tatanagar, Dhanbad, Bokaro, Deoghar, Hazaribagh, Giridih, Ramgarh, Medininagar/Daltonganj
Karnataka: Bengaluru/Bangalore, Mysuru/Mysore, Hubballi/Hubli, Mangaluru/Mangalore, Belagavi/Belgaum, Kalaburagi/Gulbarga, Davanagere, Ballari/Bellary, Vijayapura/Bijapur, Shivamogga/Shimoga, Tumakuru/Tumkur, Raichur, Bidar, Hosapete/Hospet, Udupi, Hassan, Gadag, Chitradurga, Kolar, Mandya, Chikkamagaluru/Chikmagalur, Bagalkot, Dharwad, Karwar
Kerala: Kochi/Cochin/Ernakulam, Thiruvananthapuram/Trivandrum, Kozhikode/Calicut, Thrissur/Trichur, Kollam/Quilon, Kannur/Cannanore, Alappuzha/Alleppey, Palakkad/Palghat, Kottayam, Malappuram, Thalassery/Tellicherry, Kasaragod, Munnar
Madhya Pradesh: Indore, Bhopal, Jabalpur, Gwalior, Ujjain, Sagar, Dewas, Satna, Ratlam, Rewa, Katni, Singrauli, Burhanpur, Khandwa, Morena, Bhind, Chhindwara, Guna, Shivpuri, Vidisha, Mandsaur, Neemuch, Pithampur, Narmadapuram/Hoshangabad
Maharashtra: Mumbai/Bombay, Pune/Poona, Nagpur, Nashik/Nasik, Thane, Navi Mumbai, Aurangabad/Sambhajinagar, Solapur/Sholapur, Kolhapur, Amravati, Nanded, Sangli, Jalgaon, Akola, Latur, Dhule, Ahmednagar/Ahilyanagar, Chandrapur, Parbhani, Ichalkaranji, Jalna, Kalyan, Dombivli, Ulhasnagar, Bhiwandi, Panvel, Satara, Beed, Yavatmal, Osmanabad/Dharashiv, Nandurbar, Wardha, Gondia, Malegaon, Bhusawal, Ratnagiri, Baramati, Shirdi, Pimpri-Chinchwad/Pimpri
Manipur: Imphal
Meghalaya: Shillong, Tura
Mizoram: Aizawl
Nagaland: Kohima, Dimapur
Odisha: Bhubaneswar/Bhubaneshwar, Cuttack, Rourkela, Brahmapur/Berhampur, Sambalpur, Puri, Balasore, Bhadrak, Baripada, Jharsuguda, Angul, Paradip
Punjab: Ludhiana, Amritsar, Jalandhar/Jullundur, Patiala, Bathinda/Bhatinda, Mohali/SAS Nagar, Pathankot, Hoshiarpur, Batala, Moga, Abohar, Khanna, Phagwara, Zirakpur, Firozpur/Ferozepur, Kapurthala
Rajasthan: Jaipur, Jodhpur, Kota, Bikaner, Ajmer, Udaipur, Bhilwara, Alwar, Bhiwadi, Bharatpur, Sikar, Pali, Sri Ganganagar/Ganganagar, Hanumangarh, Beawar, Tonk, Kishangarh, Churu, Jhunjhunu, Nagaur, Chittorgarh, Jaisalmer, Barmer
Sikkim: Gangtok
Tamil Nadu: Chennai/Madras, Coimbatore/Kovai, Madurai, Tiruchirappalli/Trichy, Salem, Tiruppur/Tirupur, Tirunelveli, Erode, Vellore, Thoothukudi/Tuticorin, Nagercoil, Thanjavur/Tanjore, Dindigul, Hosur, Kancheepuram/Kanchipuram, Karur, Kumbakonam, Cuddalore, Tiruvannamalai, Sivakasi, Rajapalayam, Pollachi, Pudukkottai, Udhagamandalam/Ooty, Kanniyakumari/Kanyakumari
Telangana: Hyderabad, Secunderabad, Warangal, Nizamabad, Karimnagar, Khammam, Ramagundam, Mahabubnagar, Nalgonda, Adilabad, Suryapet, Siddipet
Tripura: Agartala
Uttar Pradesh: Lucknow, Kanpur/Cawnpore, Ghaziabad, Noida, Greater Noida, Agra, Varanasi/Banaras/Benares, Prayagraj/Allahabad, Meerut, Bareilly, Aligarh, Moradabad, Saharanpur, Gorakhpur, Ayodhya/Faizabad, Jhansi, Firozabad, Muzaffarnagar, Mathura, Shahjahanpur, Rampur, Hapur, Etawah, Mirzapur, Bulandshahr, Sambhal, Amroha, Hardoi, Fatehpur, Raebareli/Rae Bareli, Orai, Sitapur, Bahraich, Unnao, Jaunpur, Hathras, Banda, Pilibhit, Barabanki
Uttarakhand: Dehradun, Haridwar, Roorkee, Haldwani, Rudrapur, Rishikesh, Kashipur, Nainital, Mussoorie
West Bengal: Kolkata/Calcutta, Howrah, Asansol, Siliguri, Durgapur, Bardhaman/Burdwan, Malda, Baharampur/Berhampore, Kharagpur, Haldia, Darjeeling, Jalpaiguri, Krishnanagar, Midnapore, Cooch Behar, Raiganj
Andaman and Nicobar Islands: Port Blair
Chandigarh: Chandigarh
Dadra and Nagar Haveli and Daman and Diu: Silvassa, Daman, Diu
Delhi: Delhi/New Delhi
Ladakh: Leh, Kargil
Lakshadweep: Kavaratti
Puducherry: Puducherry/Pondicherry, Karaikal, Yanam, Mahe
`

export function knownCities(): { state: string; names: string[] }[] {
  return KNOWN_CITIES.trim()
    .split('\n')
    .flatMap((line) => {
      const [state, cities] = line.split(': ')
      return cities!.split(', ').map((names) => ({ state: state!, names: names.split('/') }))
    })
}
