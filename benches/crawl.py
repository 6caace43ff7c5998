"""usage: crawl.py HOME_URL N

Follows links from a home page with scrapy, politeness off, until it has N pages, and keeps title and text of each.
Prints pages per second of wall time, crawling only.
"""

import sys
import time

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

home, most = sys.argv[1], int(sys.argv[2])
pages = {}


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [home]
    links = LinkExtractor(allow=[home.rsplit("/", 1)[0]])

    def parse(self, response):
        text = " ".join(response.css("main ::text").getall())
        pages[response.url] = (response.css("title::text").get(), text)
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)


process = CrawlerProcess(
    {
        "LOG_ENABLED": False,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
        "CLOSESPIDER_PAGECOUNT": most,
    }
)
began = time.perf_counter()
process.crawl(Pages)
process.start()
took = time.perf_counter() - began
assert most <= len(pages), f"{len(pages)} of {most} pages"
print(len(pages) / took)
